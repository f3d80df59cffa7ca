import { afterAll, beforeEach, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

const gateway = await startTestGateway();
afterAll(gateway.close);
const { application: applicationId, creditor: creditorId } = gateway.ids;
const path = `/v1/applications/${applicationId}/creditors/${creditorId}/income-status`;
beforeEach(() => {
  gateway.services.calls.length = 0;
});

test.each(['REQUIRED', 'VERIFIED', 'WAIVED'])(
  '%s is accepted, and answered with both ids',
  async (incomeStatus) => {
    const answer = await gateway.send('POST', path, { body: { incomeStatus } });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ applicationId, creditorId, incomeStatus });
  },
);

test.each([
  ['a missing value', {}, 'is required'],
  ['an unknown value', { incomeStatus: 'PENDING' }, 'must be one of REQUIRED, VERIFIED, WAIVED'],
  [
    'a value in lower case',
    { incomeStatus: 'waived' },
    'must be one of REQUIRED, VERIFIED, WAIVED',
  ],
  ['null', { incomeStatus: null }, 'must be one of REQUIRED, VERIFIED, WAIVED'],
])('%s is 400 and reaches no service', async (_, body, message) => {
  const answer = await gateway.send('POST', path, { body });
  expect(answer.status).toBe(400);
  expect(answer.json.errors).toEqual([{ pointer: '/incomeStatus', message }]);
  expect(gateway.services.called('setIncomeStatus')).toEqual([]);
});

test('reading it before it was set answers with the ids alone', async () => {
  const answer = await gateway.send('GET', path);
  expect(answer.status).toBe(200);
  expect(answer.json).toEqual({ applicationId, creditorId });
});

test('for another creditor it is 400 when set, and 404 when read', async () => {
  const { application, otherCreditor } = gateway.ids;
  const elsewhere = `/v1/applications/${application}/creditors/${otherCreditor}/income-status`;
  const set = await gateway.send('POST', elsewhere, { body: { incomeStatus: 'WAIVED' } });
  expect([set.status, set.json.code]).toEqual([400, 'submission_not_found']);
  const read = await gateway.send('GET', elsewhere);
  expect([read.status, read.json.code]).toEqual([404, 'submission_not_found']);
});
