// An archived application is closed for good: it stays readable, and takes neither submissions nor consents.
import { randomUUID } from 'node:crypto';
import { makeApplication } from '@creditlane/local/demo/demo';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decisionPath } from './platform/api-client.ts';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.close());

const create = async () => {
  const body = makeApplication(platform.demo.retailerId);
  return (await platform.api.post('/applications', body)).body;
};

const archive = (applicationId: string, headers: Record<string, string> = {}) =>
  platform.api.post(`/applications/${applicationId}/archive`, undefined, { headers });

test('an application that is archived stays readable, with its decision', async () => {
  const { applicationId, creditorId } = await platform.submitNewApplication();
  const archived = await archive(applicationId);
  expect([archived.status, archived.body.status]).toEqual([200, 'ARCHIVED']);
  expect((await platform.api.get(`/applications/${applicationId}`)).body).toEqual(archived.body);
  const decision = await platform.api.get(decisionPath({ applicationId, creditorId }));
  expect(decision.body.decision).toBe('AWAITING_DECISION');
});

test('an archived application cannot be submitted', async () => {
  const application = await create();
  await archive(application.applicationId);
  const refused = await platform.submit(application);
  expect([refused.status, refused.body.code]).toEqual([409, 'application_archived']);
});

test('archiving again, with the same key or with none, succeeds and changes nothing', async () => {
  const { applicationId } = await create();
  const headers = { 'Idempotency-Key': randomUUID() };
  const first = await archive(applicationId, headers);
  const repeated = await archive(applicationId, headers);
  expect(repeated.body).toEqual(first.body);
  expect(repeated.headers.get('idempotent-replayed')).toBe('true');
  const again = await archive(applicationId);
  expect([again.status, again.body]).toEqual([200, first.body]);
});

test('the consent that a submission recorded can be revoked after archiving, and no other be recorded', async () => {
  const application = await create();
  const { applicationId, primaryApplicant } = application;
  expect((await platform.submit(application)).status).toBe(200);
  await archive(applicationId);
  const path = `/applications/${applicationId}/applicants/${primaryApplicant.applicantId}/consents`;
  const [consent] = (await platform.api.get(path)).body.data;
  const capturedBy = platform.demo.users.active;
  expect(consent).toMatchObject({ purpose: 'CREDIT_APPLICATION', capturedBy });

  const terms = { purpose: 'CREDIT_APPLICATION', textVersion: 'v2', capturedBy };
  const refused = await platform.api.post(path, terms);
  expect([refused.status, refused.body.code]).toEqual([409, 'application_archived']);
  const revoked = await platform.api.post(`${path}/${consent.consentId}/revoke`, {});
  expect(revoked.body).toEqual({ ...consent, revokedAt: expect.any(String) });
  expect((await platform.api.get(path)).body.data).toEqual([revoked.body]);
});
