// A credit file is pulled on the applicant's consent alone: without one, or once it is revoked, no bureau is asked.
import { makeApplication } from '@creditlane/local/demo/demo';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../platform/test-platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.close());

/** A new applicant whom the simulated bureau has a file of, of an application that was not submitted. */
async function createApplicant() {
  const { api, demo } = platform;
  const persona = demo.personas.find(
    ({ source, outcome }) => source === 'EQUIFAX' && outcome === 'complete',
  );
  if (persona === undefined) throw new Error('the simulator has a file of nobody');
  const { firstName, lastName } = persona;
  const { primaryApplicant, ...application } = makeApplication(demo.retailerId);
  const named = { ...application, primaryApplicant: { ...primaryApplicant, firstName, lastName } };
  const { applicationId, ...created } = (await api.post('/applications', named)).body;
  const { applicantId } = created.primaryApplicant;
  const file = `/applications/${applicationId}/credit-file/${applicantId}`;
  return {
    file,
    consents: `/applications/${applicationId}/applicants/${applicantId}/consents`,
    request: (headers: Record<string, string> = {}) =>
      api.post(`${file}/request`, { source: 'EQUIFAX' }, { headers }),
    read: () => api.get(file, { headers: { Prefer: 'wait=30' } }),
    countInquiries: async () => {
      const response = await fetch(`${demo.simulatorUrl}/inquiries`);
      const inquiries = (await response.json()) as { lastName: string }[];
      return inquiries.filter((it) => it.lastName === lastName).length;
    },
  };
}

test('a pull is refused without a consent, made on one, and refused after its revocation', async () => {
  const { api, demo } = platform;
  const { file, consents, request, read, countInquiries } = await createApplicant();
  const before = await countInquiries();
  const missing = await request();
  expect([missing.status, missing.body.code]).toEqual([400, 'consent_missing']);

  const terms = {
    purpose: 'CREDIT_APPLICATION',
    textVersion: '2026-01',
    documentSha256: 'ab'.repeat(32),
    capturedBy: demo.users.active,
  };
  const { body: consent } = await api.post(consents, terms);
  expect((await request()).status).toBe(202);
  const complete = await read();
  expect(complete.headers.get('x-credit-file-status')).toBe('COMPLETE');
  const { body: pulls } = await api.get(`${file}/pulls`);
  const { consentId, capturedAt, expiresAt } = consent;
  expect(pulls.data).toMatchObject([
    { state: 'COMPLETE', consent: { consentId, ...terms, capturedAt, expiresAt } },
  ]);

  await api.post(`${consents}/${consentId}/revoke`, { revokedBy: demo.users.active });
  const revoked = await request({ Prefer: 'force-pull' });
  expect([revoked.status, revoked.body.code]).toEqual([400, 'consent_missing']);
  expect((await read()).body.id).toBe(complete.body.id);
  expect(await countInquiries()).toBe(before + 1);
});
