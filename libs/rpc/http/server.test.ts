// The Connect port as people and curl use it: HTTP/1.1 and JSON.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { TokenSigner } from '../identity.ts';
import {
  GET_DECISION,
  startTestService,
  TEST_INTEGRATION,
  TEST_KEYS,
  type TestServiceOptions,
} from '../test-service.ts';

const METHOD = '/creditlane.decisions.v1.DecisionsService/GetDecision';
const { privateKey } = TEST_KEYS.gateway;
const token = await new TokenSigner({ issuer: 'gateway', privateKey }).sign(
  'decisions',
  TEST_INTEGRATION,
);

async function open(options?: TestServiceOptions) {
  const server = await startTestService('http', options);
  const post = (body: string, headers: Record<string, string> = {}, path = METHOD) =>
    fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        connection: 'close',
        ...headers,
      },
      body,
    });
  return { ...server, post };
}

test('a call in JSON is answered in JSON', async () => {
  const { post } = await open({ getDecision: async () => ({ decision: { conditions: 'none' } }) });
  const response = await post(JSON.stringify(GET_DECISION));
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ decision: { conditions: 'none' } });
});

test('a request that is not valid: 400, and the JSON names each field', async () => {
  const { post } = await open();
  const response = await post('{"applicationId": "x"}');
  expect(response.status).toBe(400);
  const { code, details } = (await response.json()) as {
    code: string;
    details: { debug: object }[];
  };
  expect(code).toBe('invalid_argument');
  expect(details[0]?.debug).toMatchObject({
    code: 'invalid_request',
    fields: [{ pointer: '/applicationId' }, { pointer: '/creditorId' }],
  });
});

test('a body that is not JSON: 400 with a token, 401 without', async () => {
  const { post, handled, metrics } = await open();
  expect((await post('{', { authorization: 'Bearer x' })).status).toBe(401);
  expect((await post('{')).status).toBe(400);
  expect(handled).toEqual([]);
  await expect.poll(() => metrics.text()).toMatch(/method="GetDecision",code="invalid"} 1/);
});

test('an unknown path: 404', async () => {
  const { post } = await open();
  expect((await post('{}', {}, '/creditlane.decisions.v1.DecisionsService/Nothing')).status).toBe(
    404,
  );
});

test('a request that does not arrive in time is cut', async () => {
  const { port } = await open({ timeouts: { headMs: 100, requestMs: 200, unreadMs: 100 } });
  for (const text of [
    `POST ${METHOD} HT`,
    `POST ${METHOD} HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n`,
  ]) {
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    client.resume().write(text);
    await once(client, 'close');
  }
});

test('when the server closes, a connection with a call under way ends after its answer', async () => {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<object>();
  const { post, closeServer } = await open({
    gracePeriodMs: 60_000,
    getDecision() {
      arrived.resolve();
      return released.promise;
    },
  });
  const call = post(JSON.stringify(GET_DECISION), { connection: 'keep-alive' });
  await arrived.promise;
  const closed = closeServer();
  released.resolve({});
  expect((await call).status).toBe(200);
  await closed;
});
