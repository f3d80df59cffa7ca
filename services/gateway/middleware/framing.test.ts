// Requests that a proxy in front of the gateway may read in another way, sent over TCP connections.
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';
import { openTestSocket, requestText } from '../test-socket.ts';

const gateway = await startTestGateway();
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.services.calls.length = 0;
});

const BODY = JSON.stringify({ applicationId: gateway.ids.application, decision: 'BOOKED' });
const HEAD = ['Host: gateway', 'Connection: close', `Authorization: Bearer ${gateway.key}`];
const JSON_HEAD = [...HEAD, 'Content-Type: application/json'];
const LENGTH = `Content-Length: ${BODY.length}`;
const IN_CHUNKS = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;

/** Posts a decision with these headers. Resolves with the answer when the connection is closed. */
async function post(headers: readonly string[], body = BODY, version = '1.1'): Promise<string> {
  const text = requestText(`POST ${gateway.decisionPath}`, headers, body);
  const { closed } = await openTestSocket(
    gateway.port,
    text.replace('HTTP/1.1', `HTTP/${version}`),
  );
  return closed;
}

test.each([
  ['Authorization: Bearer other', [...JSON_HEAD, LENGTH]],
  ['authorization: Bearer other', [...JSON_HEAD, LENGTH]],
  ['Host: other', [...JSON_HEAD, LENGTH]],
  ['Content-Type: text/plain', [...JSON_HEAD, LENGTH]],
  ['Content-Encoding: identity', [...JSON_HEAD, 'Content-Encoding: identity', LENGTH]],
  ['Idempotency-Key: 2', [...JSON_HEAD, 'Idempotency-Key: 1', LENGTH]],
  [
    `X-Service-Retailer-ID: ${gateway.ids.retailer}`,
    [...JSON_HEAD, `X-Service-Retailer-ID: ${gateway.ids.retailer}`, LENGTH],
  ],
  ['Transfer-Encoding: chunked', [...JSON_HEAD, 'Transfer-Encoding: chunked']],
])('a second %s is 400 before anything is looked up', async (second, headers) => {
  const answer = await post([...headers, second], second.startsWith('T') ? IN_CHUNKS : BODY);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toMatch(/"code":"(duplicate_header|malformed_request)"/);
  expect(gateway.services.calls).toEqual([]);
});

test('a second header is named in the errors of the answer', async () => {
  const answer = await post(
    [...JSON_HEAD, 'Idempotency-Key: 1', LENGTH, 'Idempotency-Key: 2'],
    BODY,
  );
  const field = { in: 'header', pointer: '/idempotency-key', message: 'is given more than once' };
  expect(answer).toContain(JSON.stringify({ errors: [field] }).slice(1));
});

test.each([
  ['gzip, chunked', '1.1'],
  ['identity, chunked', '1.1'],
  ['x-chunked, chunked', '1.1'],
  ['chunked, chunked', '1.1'],
  ['chunked', '1.0'],
])(
  'Transfer-Encoding: %s in HTTP/%s is refused before anything is looked up',
  async (coding, version) => {
    const answer = await post([...JSON_HEAD, `Transfer-Encoding: ${coding}`], IN_CHUNKS, version);
    expect(answer).toMatch(/^HTTP\/1\.1 (501|400) /);
    expect(gateway.services.calls).toEqual([]);
  },
);

test.each([
  ['chunked, gzip', []],
  ['chunked', [LENGTH]],
])('Transfer-Encoding: %s with %j is no HTTP', async (coding, more) => {
  const answer = await post([...JSON_HEAD, ...more, `Transfer-Encoding: ${coding}`], IN_CHUNKS);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(gateway.services.calls).toEqual([]);
});

test('a request without Host is refused in HTTP/1.1, as every error is, and accepted in HTTP/1.0', async () => {
  const headers = [...JSON_HEAD.slice(1), LENGTH];
  const refused = await post(headers);
  expect(refused).toMatch(/^HTTP\/1\.1 400 /);
  expect(refused).toMatch(/"code":"malformed_request","requestId":"[^"]+"/);
  expect(gateway.services.calls).toEqual([]);
  expect(await post(headers, BODY, '1.0')).toMatch(/^HTTP\/1\.1 200 /);
});

test('an expectation that is unknown is ignored', async () => {
  const answer = await post([...JSON_HEAD, LENGTH, 'Expect: 200-ok']);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});

test.each(['chunked', 'Chunked'])(
  'Transfer-Encoding: %s is accepted, and repeated headers that are lists',
  async (coding) => {
    const answer = await post(
      [
        ...JSON_HEAD,
        `Transfer-Encoding: ${coding}`,
        'Accept: text/plain',
        'Accept: application/json',
        'Via: 1.1 first',
        'Via: 1.1 second',
      ],
      IN_CHUNKS,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  },
);
