import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Caller } from '@creditlane/proto/common/v1/access';
import { EnablementStatus } from '@creditlane/proto/integrations/v1/enablement_service';
import { conflict } from '@creditlane/rpc/fault';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

const gateway = await startTestGateway();
afterAll(gateway.close);
const { creditor: creditorId, integration } = gateway.ids;
beforeEach(() => {
  gateway.services.calls.length = 0;
  gateway.services.failures.clear();
  gateway.services.disabledGrants.clear();
});

const SETTABLE = ['REQUESTED', 'WAITING_FOR_SECOND_ACTIVATION_STEP', 'FAILED_TO_ENABLE'];
const ENABLE = '/v1/creditors/enable-integration';
const DISABLE = '/v1/creditors/disable-integration';
const SET_STATUS = '/v1/creditors/integration-status';
const POSTS = [
  { path: ENABLE, method: 'enableIntegration', body: {} },
  { path: DISABLE, method: 'disableIntegration', body: { reason: 'The contract ended.' } },
  { path: SET_STATUS, method: 'setIntegrationStatus', body: { status: 'REQUESTED' } },
];
const post = (path: string, body: unknown, key?: string) =>
  gateway.send('POST', path, { body, ...(key !== undefined && { key }) });

test.each([
  { path: ENABLE, body: {}, status: 'ENABLED' },
  { path: DISABLE, body: {}, status: 'DISABLED' },
  { path: DISABLE, body: { reason: 'The contract ended.' }, status: 'DISABLED' },
  ...SETTABLE.map((status) => ({ path: SET_STATUS, body: { status }, status })),
])(
  'POST $path with $body is answered with the creditor and $status',
  async ({ path, body, status }) => {
    const answer = await post(path, { creditorId: creditorId.toUpperCase(), ...body });
    expect([answer.status, answer.json]).toEqual([200, { creditorId, status }]);
  },
);

test('the reason and the Idempotency-Key reach the service, and a replay is marked', async () => {
  const answer = await gateway.send('POST', DISABLE, {
    body: { creditorId, reason: 'The contract ended.' },
    headers: { 'Idempotency-Key': 'replayed' },
  });
  expect(answer.headers.get('idempotent-replayed')).toBe('true');
  const [called] = gateway.services.called('disableIntegration');
  expect(called?.request).toMatchObject({ creditorId, reason: 'The contract ended.' });
  expect(called?.call.idempotency?.key).toBe('replayed');
});

test('an integration that is not requested is 409 when it is enabled', async () => {
  const refusal = () => conflict('integration_not_requested', 'no status was set');
  gateway.services.failures.set('enableIntegration', refusal);
  const answer = await post(ENABLE, { creditorId });
  expect(answer.status).toBe(409);
  expect(answer.json).toMatchObject({ status: 409, code: 'integration_not_requested' });
});

describe.each(POSTS)('POST $path', ({ path, method, body }) => {
  test.each([
    ['without a creditorId', {}, 'is required'],
    ['with a creditorId that is no UUID', { creditorId: 'C-17' }, 'must be a UUID'],
    ['with null for the creditorId', { creditorId: null }, 'must be a string'],
  ])('%s is 400 and reaches no service', async (_, ids, message) => {
    const answer = await post(path, { ...body, ...ids });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([{ pointer: '/creditorId', message }]);
    expect(gateway.services.called(method)).toEqual([]);
  });

  test('for a foreign creditor is 400, as for one that does not exist', async () => {
    const foreign = await post(path, { ...body, creditorId: gateway.ids.otherCreditor });
    const unknown = await post(path, { ...body, creditorId: newId() });
    expect([foreign.status, foreign.json.code]).toEqual([400, 'creditor_not_found']);
    expect({ ...foreign.json, requestId: '' }).toEqual({ ...unknown.json, requestId: '' });
  });

  test('with a platform key is 401', async () => {
    const answer = await post(path, { ...body, creditorId }, gateway.platformKey);
    expect([answer.status, answer.json.code]).toEqual([401, 'key_kind_not_accepted']);
  });
});

describe('a status that cannot be set', () => {
  const message = `must be one of ${SETTABLE.join(', ')}`;

  test.each([['ENABLED'], ['DISABLED'], ['requested'], [''], [7], [null], [{}]])(
    '%j is 422 and names the three statuses',
    async (status) => {
      const answer = await post(SET_STATUS, { creditorId, status });
      expect(answer.status).toBe(422);
      expect(answer.json).toMatchObject({ status: 422, code: 'unprocessable_value' });
      expect(answer.json.errors).toEqual([{ pointer: '/status', message }]);
      expect(gateway.services.called('setIntegrationStatus')).toEqual([]);
    },
  );

  test('is 400 when the creditorId is wrong too, and the answer names both', async () => {
    const answer = await post(SET_STATUS, { creditorId: 'C-17', status: 'ENABLED' });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([
      { pointer: '/creditorId', message: 'must be a UUID' },
      { pointer: '/status', message },
    ]);
  });

  test('is 400 when it is missing', async () => {
    const answer = await post(SET_STATUS, { creditorId });
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_request']);
  });
});

test('a reason of more than 1000 characters is 400', async () => {
  const answer = await post(DISABLE, { creditorId, reason: 'x'.repeat(1001) });
  expect(answer.status).toBe(400);
  expect(answer.json.errors).toMatchObject([{ pointer: '/reason' }]);
});

describe('reading the enablement', () => {
  const read = (id: string) => gateway.send('GET', `/v1/creditors/${id}/integration`);

  test('before a status was set answers with the creditor alone', async () => {
    gateway.services.enablement = {};
    const answer = await read(creditorId);
    expect([answer.status, answer.json]).toEqual([200, { creditorId }]);
  });

  test('answers with the status, its time and the reason', async () => {
    const setAt = new Date('2026-03-02T15:04:05.678Z');
    const reason = 'The contract ended.';
    const status = EnablementStatus.DISABLED;
    gateway.services.enablement = { status, reason, setAt: timestampFromDate(setAt) };
    expect((await read(creditorId)).json).toEqual({
      creditorId,
      status: 'DISABLED',
      reason,
      setAt: setAt.toISOString(),
    });
  });

  test('of a foreign creditor is 404, as for one that does not exist', async () => {
    const foreign = await read(gateway.ids.otherCreditor);
    const unknown = await read(newId());
    expect([foreign.status, foreign.json.code]).toEqual([404, 'creditor_not_found']);
    expect({ ...foreign.json, requestId: '' }).toEqual({ ...unknown.json, requestId: '' });
  });
});

test('while the integration is disabled for the creditor, only the operations on its status have access', async () => {
  const key = gateway.services.issue(Caller.INTEGRATION, integration);
  gateway.services.grants.delete(`${integration} ${creditorId}`);
  gateway.services.disabledGrants.add(`${integration} ${creditorId}`);
  for (const { path, body } of POSTS) {
    expect((await post(path, { ...body, creditorId }, key)).status).toBe(200);
  }
  const read = await gateway.send('GET', `/v1/creditors/${creditorId}/integration`);
  expect(read.status).toBe(200);
  const body = { applicationId: gateway.ids.application, decision: 'BOOKED' };
  const refused = await post(gateway.decisionPath, body, key);
  expect([refused.status, refused.json.code]).toEqual([400, 'submission_not_found']);
  gateway.services.grants.add(`${integration} ${creditorId}`);
});

describe('enabling an integration for a retailer', () => {
  const { retailer: retailerId } = gateway.ids;
  const path = `/v1/platform/integrations/${integration}/retailers/${retailerId}/enable`;
  const enable = (body?: unknown) => gateway.send('POST', path, { key: gateway.platformKey, body });
  const request = () => gateway.services.called('enableForRetailer').at(-1)?.request;

  test('answers with both ids, and the configuration reaches the service as it came', async () => {
    const text = '{"configJson":{"b":[1,2.50,{"a":null}],"a":"é","__proto__":{"x":1}},"other":1}';
    const answer = await enable(text);
    const ids = { integrationId: integration, retailerId };
    expect([answer.status, answer.json]).toEqual([200, { ...ids, status: 'ENABLED' }]);
    const configJson = '{"b":[1,2.5,{"a":null}],"a":"é","__proto__":{"x":1}}';
    expect(request()).toMatchObject({ ...ids, configJson });
  });

  test.each([
    ['as many values as 32 KiB hold', `{"ab":[${Array(16_380).fill(0).join(',')}]}`],
    ['with all its characters escaped', `{"a":"${'\\u00e9'.repeat(16_380)}"}`],
  ])('takes a configuration of 32 KiB, %s', async (_, text) => {
    const configJson = JSON.stringify(JSON.parse(text));
    expect(Buffer.byteLength(configJson)).toBe(32 * 1024);
    expect((await enable(`{"configJson":${text}}`)).status).toBe(200);
    expect(request()).toMatchObject({ configJson });
  });

  test.each([[undefined], [{}], [{ configJson: null }]])(
    'with the body %j has no configuration',
    async (body) => {
      expect((await enable(body)).status).toBe(200);
      expect(request()).toMatchObject({ configJson: '' });
    },
  );

  test.each([['text'], [7], [[{}]]])('with %j as configuration is 400', async (configJson) => {
    const answer = await enable({ configJson });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([{ pointer: '/configJson', message: 'must be an object' }]);
  });

  test('with the key of an integration is 401, and without the permission 403', async () => {
    const asIntegration = await gateway.send('POST', path);
    expect([asIntegration.status, asIntegration.json.code]).toEqual([401, 'key_kind_not_accepted']);
    const key = gateway.services.issue(Caller.PLATFORM, newId(), ['MANAGE_DIRECTORY']);
    const withoutPermission = await gateway.send('POST', path, { key });
    expect([withoutPermission.status, withoutPermission.json.code]).toEqual([
      403,
      'permission_missing',
    ]);
    expect(gateway.services.called('enableForRetailer')).toEqual([]);
  });

  test.each([
    ['{"a":[{"b":9007199254740993}]}', '/configJson/a/0/b', /within ±9007199254740991/],
    ['{"a":["x\\u0000"]}', '/configJson/a/0', /U\+0000/],
    ['{"\\ud83d":1}', '/configJson/\ud83d', /half of a surrogate pair/],
  ])(
    'with %s as configuration is 400: it could not be kept as it is',
    async (text, pointer, message) => {
      const answer = await enable(`{"configJson":${text}}`);
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual([{ pointer, message: expect.stringMatching(message) }]);
    },
  );

  test('writes nothing of the configuration into the log', async () => {
    await enable({ configJson: { password: 'correct horse' } });
    await enable({ configJson: ['correct horse'] });
    expect(gateway.lines.join('')).not.toContain('correct horse');
  });
});
