// Puts secrets and personal data in at the API of a platform that runs, to look for them afterwards.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Demo } from '@creditlane/local/demo/demo';
import { makeApplication, makeSubmission } from '@creditlane/local/demo/demo';
import { type Answer, ApiClient } from './api-client.ts';
import type { Canary } from './canary-scan.ts';

/** The id of a request and of a record, which are no secrets: they are found wherever something is written. */
export interface PutCanaries {
  canaries: Canary[];
  requestId: string;
  applicationId: string;
}

/** A social insurance number of the 0-series, which is never issued. */
const SIN = '073918468';

const aWord = () => `Canary${randomBytes(12).toString('hex')}`;

export async function putCanaries(demo: Demo): Promise<PutCanaries> {
  const api = new ApiClient(demo);
  const requestId = `request-${randomUUID()}`;
  const headers = { 'x-request-id': requestId };
  const [lastName, street, employer, comment] = [aWord(), aWord(), aWord(), aWord()];
  const email = `${aWord().toLowerCase()}@example.com`;
  const { primaryApplicant, ...application } = makeApplication(demo.retailerId);
  const [address] = primaryApplicant.addressHistory;
  const [employment] = primaryApplicant.employmentHistory;
  const created = await api.post(
    '/applications',
    {
      ...application,
      primaryApplicant: {
        ...primaryApplicant,
        lastName,
        email,
        sin: SIN,
        addressHistory: [{ ...address, streetName: street }],
        employmentHistory: [{ ...employment, employerName: employer }],
      },
    },
    { headers },
  );
  require2xx(created);
  const { applicationId } = created.body;
  const { applicantId } = created.body.primaryApplicant;
  const { creditorId, integrationId } = demo;
  const path = `/applications/${applicationId}`;
  require2xx(await api.post(`${path}/submit`, makeSubmission({ ...demo, applicantId })));
  require2xx(await api.post(`${path}/export`, { integrationId, creditorId }));
  const fromCreditor = { userName: lastName, comment };
  require2xx(await api.post(`${path}/creditors/${creditorId}/comment`, fromCreditor, { headers }));

  const asPlatform = { key: demo.keys.platform };
  const keys = `/platform/integrations/${integrationId}/keys`;
  const issued = await api.post(keys, {}, asPlatform);
  require2xx(issued);
  // A request with the key, which is looked up and cached.
  require2xx(await api.get(path, { key: issued.body.key }));
  return {
    requestId,
    applicationId,
    canaries: [
      { name: 'SIN', texts: [SIN, SIN.replace(/(...)(...)(...)/, '$1-$2-$3'), spaced(SIN)] },
      { name: 'last name', texts: [lastName] },
      { name: 'e-mail address', texts: [email] },
      { name: 'street', texts: [street] },
      { name: 'employer', texts: [employer] },
      { name: 'comment', texts: [comment] },
      { name: 'API key', texts: [issued.body.key] },
      { name: 'platform key', texts: [demo.keys.platform] },
      { name: 'webhook secret', texts: [demo.webhookSecret, demo.webhookSecret.slice(6)] },
    ],
  };
}

function spaced(sin: string): string {
  return sin.replace(/(...)(...)(...)/, '$1 $2 $3');
}

function require2xx({ status, body }: Answer): void {
  if (status >= 300) throw new Error(`answered with ${status}: ${JSON.stringify(body)}`);
}
