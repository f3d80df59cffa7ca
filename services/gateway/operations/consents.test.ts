import { conflict, invalidFields } from '@creditlane/rpc/fault';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

const gateway = await startTestGateway();
afterAll(gateway.close);
const { ids, services } = gateway;
const [applicantId, userId] = [newId(), newId()];
afterEach(() => {
  services.consents.length = 0;
  services.calls.length = 0;
  services.failures.clear();
});

const pathOf = (applicationId: string) =>
  `/v1/applications/${applicationId}/applicants/${applicantId}/consents`;
const path = pathOf(ids.application);
const consent = { purpose: 'CREDIT_APPLICATION', textVersion: '2026-01', capturedBy: userId };

const record = (change: object = {}, headers = {}) =>
  gateway.send('POST', path, { body: { ...consent, ...change }, headers });

describe('recording a consent', () => {
  test('answers 201 with the consent', async () => {
    const documentSha256 = '9f'.repeat(32);
    const times = { capturedAt: '2026-02-28T10:00:00-05:00', expiresAt: '2026-08-28T15:00:00.5Z' };
    const { status, json } = await record({ documentSha256, ...times });
    expect(status).toBe(201);
    expect(json).toEqual({
      consentId: services.consents[0]?.id,
      applicantId,
      ...consent,
      documentSha256,
      capturedAt: '2026-02-28T15:00:00.000Z',
      recordedAt: '2026-03-02T15:04:05.678Z',
      expiresAt: '2026-08-28T15:00:00.500Z',
    });
    const [{ request, call }] = services.called('recordConsent') as [never];
    expect(request).toMatchObject({ applicationId: ids.application, applicantId, ...consent });
    expect(call).toMatchObject({ identity: { retailerId: ids.retailer } });
  });

  test('repeated with its Idempotency-Key is marked as replayed', async () => {
    const { headers } = await record({}, { 'Idempotency-Key': 'replayed' });
    expect(headers.get('idempotent-replayed')).toBe('true');
  });

  test.each([
    ['without a purpose', { purpose: undefined }, '/purpose'],
    ['for another purpose', { purpose: 'MARKETING' }, '/purpose'],
    ['to a blank text', { textVersion: ' ' }, '/textVersion'],
    ['with half of a hash', { documentSha256: '9f' }, '/documentSha256'],
    ['with a hash in upper case', { documentSha256: '9F'.repeat(32) }, '/documentSha256'],
    ['by no user', { capturedBy: undefined }, '/capturedBy'],
    ['on a day without a time', { capturedAt: '2026-02-28' }, '/capturedAt'],
    ['until a second that no clock has', { expiresAt: '2026-12-31T23:59:60Z' }, '/expiresAt'],
  ])('%s is 400 before the service is asked', async (_, change, pointer) => {
    const { status, json } = await record(change);
    expect([status, json.errors[0].pointer]).toEqual([400, pointer]);
    expect(services.called('recordConsent')).toEqual([]);
  });

  test.each([
    {
      fault: invalidFields('ineligible_user', [{ pointer: '/capturedBy', message: 'x' }]),
      status: 400,
    },
    { fault: conflict('application_archived', 'x'), status: 409 },
  ])('refused by the service with $fault.code is $status', async ({ fault, status }) => {
    services.failures.set('recordConsent', () => fault);
    const answer = await record();
    expect([answer.status, answer.json.code]).toEqual([status, fault.code]);
  });
});

describe('the consents of an applicant', () => {
  test('are a page with a cursor, and each can be revoked, by a user or by the integration alone', async () => {
    const { json: recorded } = await record();
    const list = await gateway.send('GET', `${path}?limit=1&cursor=x`);
    expect([list.status, list.json]).toEqual([200, { data: [recorded], nextCursor: 'next' }]);

    const revoke = (body?: object) =>
      gateway.send('POST', `${path}/${recorded.consentId}/revoke`, { body });
    const revokedAt = '2026-03-02T15:04:05.678Z';
    const byUser = await revoke({ revokedBy: userId });
    expect(byUser.json).toEqual({ ...recorded, revokedAt, revokedBy: userId });
    const byIntegration = await revoke();
    expect(byIntegration.json).toEqual({ ...recorded, revokedAt });
    const unknown = await gateway.send('POST', `${path}/${newId()}/revoke`);
    expect([unknown.status, unknown.json.code]).toEqual([404, 'consent_not_found']);
  });

  test('of another tenant’s application are answered like those of one that does not exist', async () => {
    const answers = [];
    for (const applicationId of [ids.otherApplication, newId()]) {
      for (const [method, at, body] of [
        ['POST', '', consent],
        ['GET', '', undefined],
        ['POST', `/${newId()}/revoke`, undefined],
      ] as const) {
        const { status, json } = await gateway.send(method, pathOf(applicationId) + at, { body });
        answers.push([status, { ...json, requestId: '' }]);
      }
    }
    expect(answers[0]).toMatchObject([404, { code: 'applicant_not_found' }]);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });
});
