// Puts secrets and personal data in at the API of a platform that runs, to look for them afterwards.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Demo } from '@creditlane/local/demo/demo';
import { makeApplication, makeSubmission } from '@creditlane/local/demo/demo';
import { type Answer, ApiClient, type CallOptions, decisionPath } from './api-client.ts';
import type { Canary } from './canary-scan.ts';
import { eventually } from './eventually.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

export interface PutCanaries {
  canaries: Canary[];
  /** Ids of a record and of a request, which are no secrets: they are found wherever something is written. */
  applicationId: string;
  requestId: string;
}

/** A social insurance number of the 0-series, which is never issued. */
const SIN = '073918468';

/** Sends every kind of secret and personal data in, and has a credit file pulled, read and made into a PDF. */
export async function putCanaries(demo: Demo): Promise<PutCanaries> {
  const requestId = `request-${randomUUID()}`;
  const { applicationId, applicantId, canaries } = await putApplicant(demo, requestId);
  const path = `/applications/${applicationId}`;
  const secrets = await putSecrets(demo, path);
  const inFile = await pullCreditFile(demo, `${path}/credit-file/${applicantId}`);
  const inAnswer = await refuseWebhook(demo);
  return { requestId, applicationId, canaries: [...canaries, ...secrets, ...inFile, inAnswer] };
}

/** Creates, submits and exports an application, and comments on it. */
async function putApplicant(demo: Demo, requestId: string) {
  const { creditorId, integrationId, retailerId } = demo;
  const [lastName, street, employer, comment] = [aWord(), aWord(), aWord(), aWord()];
  const email = `${aWord().toLowerCase()}@example.com`;
  const { primaryApplicant, ...application } = makeApplication(retailerId);
  const [address] = primaryApplicant.addressHistory;
  const [employment] = primaryApplicant.employmentHistory;
  const person = { ...primaryApplicant, lastName, email, sin: SIN };
  const headers = { 'x-request-id': requestId };
  const body = {
    ...application,
    primaryApplicant: {
      ...person,
      addressHistory: [{ ...address, streetName: street }],
      employmentHistory: [{ ...employment, employerName: employer }],
    },
  };
  const created = await call(demo, 'POST', '/applications', { body, headers });
  const { applicationId } = created.body;
  const { applicantId } = created.body.primaryApplicant;
  const path = `/applications/${applicationId}`;
  const submission = makeSubmission({ ...demo, applicantId });
  await call(demo, 'POST', `${path}/submit`, { body: submission });
  await call(demo, 'POST', `${path}/export`, { body: { integrationId, creditorId } });
  const fromCreditor = { userName: lastName, comment };
  await call(demo, 'POST', `${path}/creditors/${creditorId}/comment`, { body: fromCreditor });
  const canaries: Canary[] = [
    { name: 'SIN', texts: [SIN, groupedBy('-'), groupedBy(' ')] },
    { name: 'last name', texts: [lastName] },
    { name: 'e-mail address', texts: [email] },
    { name: 'street', texts: [street] },
    { name: 'employer', texts: [employer] },
    { name: 'comment', texts: [comment] },
  ];
  return { applicationId, applicantId, canaries };
}

/** Issues and uses an API key, and sets and uses bureau credentials of another retailer. */
async function putSecrets(demo: Demo, path: string): Promise<Canary[]> {
  const { keys, integrationId, otherTenant, webhookSecret } = demo;
  const asPlatform = { key: keys.platform };
  const keysPath = `/platform/integrations/${integrationId}/keys`;
  const issued = await call(demo, 'POST', keysPath, { ...asPlatform, body: {} });
  await call(demo, 'GET', path, { key: issued.body.key });

  const credentialsPath = `/platform/retailers/${otherTenant.retailerId}/bureau-credentials`;
  const equifax = {
    ...{ customerCode: 'Q731', customerNumber: '731QZ91847', securityCode: aWord() },
    baseUrl: `${demo.simulatorUrl}/equifax`,
  };
  const client = { clientId: aWord(), clientSecret: aWord() };
  const transUnion = {
    ...{ memberCode: aWord(), password: aWord() },
    baseUrl: `${demo.simulatorUrl}/transunion`,
  };
  const use = async (source: string, body: object) => {
    await call(demo, 'PUT', `${credentialsPath}/${source}`, { ...asPlatform, body });
    await pullInVain(demo, source);
  };
  await use('EQUIFAX', { ...equifax, transport: 'SOAP' });
  await use('EQUIFAX', { ...equifax, ...client, transport: 'OAUTH' });
  await use('TRANSUNION', transUnion);
  return [
    { name: 'API key', texts: [issued.body.key] },
    { name: 'platform key', texts: [keys.platform] },
    { name: 'webhook secret', texts: [webhookSecret, webhookSecret.replace('whsec_', '')] },
    { name: 'member number', texts: [equifax.customerNumber] },
    { name: 'security code', texts: [equifax.securityCode] },
    { name: 'client id', texts: [client.clientId] },
    { name: 'client secret', texts: [client.clientSecret] },
    { name: 'member code', texts: [transUnion.memberCode] },
    { name: 'password', texts: [transUnion.password] },
  ];
}

/** Has a receiver of the other tenant refuse a webhook, and reads what it answered. */
async function refuseWebhook(demo: Demo): Promise<Canary> {
  const { key, integrationId, applicationId } = demo.otherTenant;
  const text = aWord();
  const receiver = await startWebhookReceiver();
  try {
    receiver.answerWith(422, text);
    const path = `/platform/integrations/${integrationId}/destination`;
    await call(demo, 'PUT', path, { key: demo.keys.platform, body: { url: receiver.url } });
    const decision = { applicationId, decision: 'DECLINED' };
    await call(demo, 'POST', decisionPath(demo.otherTenant), { key, body: decision });
    await eventually('answer of the receiver', async () => {
      const { body } = await call(demo, 'GET', '/webhook-deliveries', { key });
      const [delivery] = body.data;
      if (delivery === undefined) return undefined;
      const read = await call(demo, 'GET', `/webhook-deliveries/${delivery.deliveryId}`, { key });
      return (
        read.body.attempts.some(({ answer }: { answer?: string }) => answer === text) || undefined
      );
    });
  } finally {
    await receiver.close();
  }
  return { name: 'answer of a receiver', texts: [text] };
}

/** Pulls for the other tenant: the simulator gets the credentials, and refuses them. */
async function pullInVain(demo: Demo, source: string): Promise<void> {
  const { key, applicationId, applicantId } = demo.otherTenant;
  const path = `/applications/${applicationId}/credit-file/${applicantId}`;
  const body = { source, requestId: randomUUID() };
  await call(demo, 'POST', `${path}/request`, { key, body });
  const read = await new ApiClient(demo).get(path, { key, headers: { prefer: 'wait=30' } });
  const { code, message } = read.body;
  if (code !== 'credit_file_failed' || !/CREDENTIALS/.test(message)) {
    throw new Error(`a pull with wrong credentials was answered with ${read.status} ${code}`);
  }
}

/** Pulls, reads and prints a credit file; resolves to what the bureau alone knows of the person. */
async function pullCreditFile(demo: Demo, path: string): Promise<Canary[]> {
  await call(demo, 'POST', `${path}/request`, {
    body: { source: 'EQUIFAX', requestId: randomUUID() },
  });
  const read = await call(demo, 'GET', path, { headers: { prefer: 'wait=30' } });
  const status = read.headers.get('x-credit-file-status');
  if (status !== 'COMPLETE') throw new Error(`the credit file is ${status}`);
  const { trades, signedPdfUrl } = read.body;
  const document = await fetch(signedPdfUrl);
  if (!document.ok) throw new Error(`the document was answered with ${document.status}`);
  const signature = new URL(signedPdfUrl).searchParams.get('signature') ?? '';
  return [
    { name: 'account number', texts: [trades[0].accountNumber] },
    { name: 'creditor of a trade', texts: [trades[0].creditor.name] },
    { name: 'signature of a link', texts: [signature] },
  ];
}

async function call(
  demo: Demo,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  // With a key, the answer of a POST is stored.
  const headers = {
    ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
    ...options.headers,
  };
  const answer = await new ApiClient(demo).call(method, path, { ...options, headers });
  if (answer.status >= 300) {
    throw new Error(`${method} ${path} was answered with ${answer.status}`);
  }
  return answer;
}

/** Long enough to be unique, and to be recognised in what PostgreSQL has compressed. */
function aWord(): string {
  return `Canary${randomBytes(12).toString('hex')}`;
}

function groupedBy(separator: string): string {
  return SIN.replace(/(...)(...)(...)/, `$1${separator}$2${separator}$3`);
}
