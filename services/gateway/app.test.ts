import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import type { Call } from '@creditlane/rpc/call';
import { cancelled, conflict, Fault, internal, invalid, unavailable } from '@creditlane/rpc/fault';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startTestGateway } from './test-gateway.ts';

const VISIBLE_ASCII = String.fromCharCode(
  ...Array.from({ length: 94 }, (_, index) => 0x21 + index),
);

const gateway = await startTestGateway();
afterAll(gateway.close);
afterEach(() => gateway.services.failures.clear());

const decision = () => ({ applicationId: gateway.ids.application, decision: 'BOOKED' });
const post = (body: unknown, headers: Record<string, string> = {}) =>
  gateway.send('POST', gateway.decisionPath, { body, headers });

describe('routes', () => {
  test.each([
    '/',
    '/v1',
    '/v2/applications',
    '/v1/applications/',
    '/v1//applications',
    '/v1/nothing',
  ])('%s is 404 with the body that all errors have', async (path) => {
    const answer = await gateway.send('GET', path);
    expect(answer.status).toBe(404);
    expect(answer.json).toEqual({
      status: 404,
      message: 'no operation has this path',
      code: 'route_not_found',
      requestId: answer.headers.get('x-request-id'),
    });
  });

  test('a method that a path does not take is 405 with Allow', async () => {
    const answer = await gateway.send('DELETE', gateway.decisionPath);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST');
    expect(answer.json.code).toBe('method_not_allowed');
  });

  test('HEAD answers like GET, without the body', async () => {
    const answer = await gateway.send('HEAD', gateway.decisionPath);
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('');
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(0);
  });

  test('broken percent-encoding is 400', async () => {
    const answer = await gateway.send(
      'GET',
      gateway.decisionPath.replace('/creditors/', '%zz/creditors/'),
    );
    expect(answer.status).toBe(400);
  });
});

describe('bodies', () => {
  test.each([
    ['cut off', '{"decision":', 'malformed_json', /expected a value \(line 1, column 13\)/],
    [
      'with an unquoted word',
      '{\n  "decision": APPROVED\n}',
      'malformed_json',
      /line 2, column 15/,
    ],
    [
      'with a property twice',
      '{"decision":"BOOKED","decision":"DECLINED"}',
      'duplicate_property',
      /column 22/,
    ],
    ['with U+0000', '{"conditions":"a\\u0000b"}', 'malformed_json', /U\+0000/],
    ['with a lone surrogate', '{"conditions":"\\ud83d"}', 'malformed_json', /surrogate/],
    ['not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'not_utf8', /UTF-8/],
    ['empty', '', 'body_missing', /needs a JSON body/],
    ['a list', '[]', 'invalid_request', /body: must be an object/],
    ['null', 'null', 'invalid_request', /body: must be an object/],
  ])('a body %s is 400 and says what is wrong', async (_, body, code, message) => {
    const answer = await gateway.send('POST', gateway.decisionPath, { body });
    expect(answer.status).toBe(400);
    expect(answer.json.code).toBe(code);
    expect(answer.json.message).toMatch(message);
  });

  test('a byte order mark is ignored', async () => {
    expect((await post(`\ufeff${JSON.stringify(decision())}`)).status).toBe(200);
  });

  test.each([
    ['text/plain', {}],
    ['application/x-www-form-urlencoded', {}],
    ['application/json; charset=iso-8859-1', {}],
    ['application/json', { 'content-encoding': 'gzip' }],
  ])('%s with %o is 415', async (type, headers) => {
    const answer = await post(decision(), { 'content-type': type, ...headers });
    expect(answer.status).toBe(415);
    expect(answer.json.code).toBe('not_json');
  });

  test('application/json; charset=UTF-8 is accepted', async () => {
    expect(
      (await post(decision(), { 'content-type': 'Application/JSON; charset=UTF-8' })).status,
    ).toBe(200);
  });

  test('a body of as many bytes as its operation takes is accepted, and one byte more is 413', async () => {
    const padded = (bytes: number) => JSON.stringify(decision()).padEnd(bytes);
    expect((await post(padded(128 * 1024))).status).toBe(200);
    const answer = await post(padded(128 * 1024 + 1));
    expect(answer.status).toBe(413);
    expect(answer.json.code).toBe('body_too_large');
    expect(answer.json.message).toBe(
      'the body is larger than the 128 KiB that this operation takes',
    );
    const huge = await post(padded(1024 * 1024 + 1));
    expect(huge.status).toBe(413);
    expect(huge.headers.get('connection')).toBe('close');
  });

  test('the longest values of every field, written with escape sequences, are within the limit', async () => {
    const long = (length: number) => '\u00e9'.repeat(length);
    const fields = { conditions: long(10_000), program: long(200), tier: long(200) };
    const ascii = JSON.stringify({ ...decision(), ...fields }).replaceAll('é', '\\u00e9');
    expect((await post(ascii)).status).toBe(200);
  });

  test.each(['GET', 'DELETE'])(
    'a body sent to an operation without one (%s) is checked for type, size and syntax, and ignored',
    async (method) => {
      const path =
        method === 'GET'
          ? gateway.decisionPath
          : `/v1/platform/integrations/${newId()}/keys/${newId()}`;
      const key = method === 'GET' ? gateway.key : gateway.platformKey;
      const send = (type: string, body: string) =>
        new Promise<number | undefined>((resolve, reject) => {
          const headers = {
            authorization: key,
            'content-type': type,
            'content-length': body.length,
          };
          const sending = httpRequest(gateway.url + path, { method, headers });
          sending.on('response', (response) => resolve(response.resume().statusCode));
          sending.on('error', reject);
          sending.end(body);
        });
      expect(await send('text/plain', 'hello')).toBe(415);
      expect(await send('application/json', ' '.repeat(2 * 1024 * 1024))).toBe(413);
      expect(await send('application/json', '{')).toBe(400);
      expect(await send('application/json', '{}')).toBe(method === 'GET' ? 200 : 204);
    },
  );

  test('a body that never ends is 413 as soon as it is too large', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sending = httpRequest(gateway.url + gateway.decisionPath, {
        method: 'POST',
        headers: { authorization: gateway.key, 'content-type': 'application/json' },
      });
      const chunk = Buffer.alloc(64 * 1024, ' ');
      let ended = false;
      const send = () => {
        while (!ended && sending.write(chunk));
      };
      sending.on('drain', send);
      sending.on('response', (response) => {
        ended = true;
        response.resume();
        sending.destroy();
        resolve(response.statusCode);
      });
      sending.on('error', (error) => {
        if (!ended) reject(error);
      });
      send();
    });
    expect(status).toBe(413);
  });

  test('100 Continue is sent only to a client whose body is read', async () => {
    const exchange = (key: string) =>
      new Promise<{ continued: boolean; status: number | undefined }>((resolve, reject) => {
        let continued = false;
        const sending = httpRequest(gateway.url + gateway.decisionPath, {
          method: 'POST',
          headers: {
            authorization: key,
            'content-type': 'application/json',
            expect: '100-continue',
          },
        });
        sending.on('continue', () => {
          continued = true;
          sending.end(JSON.stringify(decision()));
        });
        sending.on('response', (response) => {
          response.resume();
          sending.destroy();
          resolve({ continued, status: response.statusCode });
        });
        sending.on('error', reject);
        sending.flushHeaders();
      });
    expect(await exchange(gateway.key)).toEqual({ continued: true, status: 200 });
    expect(await exchange('nonsense')).toEqual({ continued: false, status: 401 });
  });
});

describe('a client that hangs up', () => {
  test('with half its body sent is logged with 499, and no service is called', async () => {
    gateway.lines.length = 0;
    gateway.services.calls.length = 0;
    const sending = httpRequest(gateway.url + gateway.decisionPath, {
      method: 'POST',
      headers: {
        authorization: gateway.key,
        'content-type': 'application/json',
        'content-length': '100',
        expect: '100-continue',
      },
    });
    sending.on('error', () => {});
    sending.on('continue', () => sending.write('{', () => sending.destroy()));
    sending.flushHeaders();
    await expect.poll(() => gateway.lines.join('')).toContain('"code":"cancelled"');
    expect(JSON.parse(gateway.lines.at(-1) ?? '')).toMatchObject({ status: 499, level: 'info' });
    expect(gateway.services.called('recordDecision')).toEqual([]);
  });
});

describe.each(['memory', 'grpc'] as const)('with calls over %s', (calls) => {
  test('a client that hangs up cancels the call made for it, and is logged with 499', async () => {
    const own = await startTestGateway({}, { calls });
    const arrived = Promise.withResolvers<Call>();
    const aborted = Promise.withResolvers<void>();
    own.services.gates.getDecision.push(async (call) => {
      call.signal.addEventListener('abort', () => aborted.resolve());
      arrived.resolve(call);
      await aborted.promise;
    });
    try {
      const socket = connect(own.port, '127.0.0.1');
      socket.write(
        `GET ${own.decisionPath} HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${own.key}\r\n\r\n`,
      );
      expect((await arrived.promise).signal.aborted).toBe(false);
      socket.destroy();
      await aborted.promise;
      await expect.poll(() => own.lines.join('')).toContain('"code":"cancelled"');
      expect(JSON.parse(own.lines.at(-1) ?? '')).toMatchObject({ status: 499, level: 'info' });
    } finally {
      aborted.resolve();
      await own.close();
    }
  });

  test('a client that waits for its answer is answered, and nothing is cancelled', async () => {
    const own = await startTestGateway({}, { calls });
    try {
      expect((await own.send('GET', own.decisionPath)).status).toBe(200);
      expect(own.services.called('getDecision')[0]?.call.signal.aborted).toBe(false);
    } finally {
      await own.close();
    }
  });
});

describe('a request that is not HTTP', () => {
  test('gets the body that all errors have', async () => {
    const text = await new Promise<string>((resolve, reject) => {
      let received = '';
      const socket = connect(gateway.port, '127.0.0.1', () => socket.write('HELLO\r\n\r\n'));
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.on('end', () => resolve(received));
      socket.on('error', reject);
    });
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request/);
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      code: 'malformed_request',
    });
  });
});

describe('errors of the services', () => {
  test.each([
    [
      'not_found on an operation without 404',
      () => new Fault('not_found', 'x_not_found', 'no x'),
      400,
      'x_not_found',
    ],
    [
      'a conflict',
      () => conflict('idempotency_in_progress', 'still running'),
      409,
      'idempotency_in_progress',
    ],
    [
      'a reused key',
      () => invalid('idempotency_key_reused', 'other body'),
      422,
      'idempotency_key_reused',
    ],
    ['an absent peer', () => unavailable('away', 7), 503, 'unavailable'],
    [
      'a passed deadline',
      () => new Fault('deadline', 'deadline_exceeded', 'late'),
      503,
      'deadline_exceeded',
    ],
    // The client is still connected, and whether its request took effect is unknown.
    ['a service that saw its caller hang up', () => cancelled(), 503, 'cancelled'],
    ['a bug', () => internal(new Error('secret detail')), 500, 'internal_error'],
    [
      'a refusal of our own token',
      () => new Fault('unauthenticated', 'token_expired', 'old'),
      500,
      'internal_error',
    ],
    [
      'a call that is not ours to make',
      () => new Fault('forbidden', 'caller_not_allowed', 'no'),
      500,
      'internal_error',
    ],
    [
      'a method that is not served',
      () => new Fault('unimplemented', 'unimplemented', 'no'),
      500,
      'internal_error',
    ],
  ])('%s', async (_, failure, status, code) => {
    gateway.services.failures.set('recordDecision', failure);
    const answer = await post(decision());
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ status, code });
    expect(answer.headers.get('retry-after')).toBe(
      status === 503 ? (code === 'unavailable' ? '7' : '1') : null,
    );
    expect(answer.text).not.toContain('secret');
  });

  test('a refused field is named by its place in the client’s request', async () => {
    const fields = [{ pointer: '/decision/term', message: 'must not be negative' }];
    gateway.services.failures.set('recordDecision', () => invalid('invalid_decision', 'x', fields));
    const answer = await post(decision());
    expect(answer.json).toMatchObject({
      status: 400,
      message: 'term: must not be negative',
      code: 'invalid_decision',
      errors: [{ pointer: '/term', message: 'must not be negative' }],
    });
  });

  test('come as problem details when asked for', async () => {
    const answer = await post({ ...decision(), term: 'x' }, { accept: 'application/problem+json' });
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.json).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: 'term: must be a whole number',
      code: 'invalid_request',
      requestId: answer.headers.get('x-request-id'),
      errors: [{ pointer: '/term', message: 'must be a whole number' }],
    });
  });
});

describe('the form of an error', () => {
  const problem = 'application/problem+json';
  test.each([
    [problem, problem],
    [`${problem}, application/json;q=0.9`, problem],
    [`application/*;q=0.5, ${problem.toUpperCase()}`, problem],
    [`application/json, ${problem};q=0.5`, 'application/json; charset=utf-8'],
    [`${problem};q=0`, 'application/json; charset=utf-8'],
    [`*/*, ${problem};q=0`, 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['text/html', 'application/json; charset=utf-8'],
    [`text/x-${problem}-not`, 'application/json; charset=utf-8'],
  ])('for Accept: %s is %s', async (accept, expected) => {
    const answer = await gateway.send('GET', '/v1/nothing', { headers: { accept } });
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe(expected);
  });
});

describe('request ids', () => {
  test('are echoed and passed on, with the trace', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const answer = await post(decision(), { 'X-Request-Id': 'order-7781', traceparent });
    expect(answer.headers.get('x-request-id')).toBe('order-7781');
    const { call } = gateway.services.called('recordDecision').at(-1) ?? {};
    expect(call).toMatchObject({ requestId: 'order-7781', traceparent });
  });

  test.each([
    { what: '129 characters', id: 'x'.repeat(129) },
    { what: '200 characters', id: 'x'.repeat(200) },
    { what: 'every visible ASCII character', id: VISIBLE_ASCII },
  ])('of $what are the same in the answer and in the services', async ({ id }) => {
    const answer = await post(decision(), { 'X-Request-Id': id });
    expect(answer.headers.get('x-request-id')).toBe(id);
    const { call } = gateway.services.called('recordDecision').at(-1) ?? {};
    expect(call?.requestId).toBe(id);
  });

  test.each([['two words'], ['x'.repeat(201)]])('%s is replaced', async (id) => {
    const answer = await post(decision(), { 'X-Request-Id': id });
    expect(answer.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
  });
});

describe('every answer', () => {
  test('carries the security headers', async () => {
    for (const answer of [
      await post(decision()),
      await post('{'),
      await gateway.send('GET', '/x'),
    ]) {
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('content-security-policy')).toBe(
        "default-src 'none'; frame-ancestors 'none'",
      );
    }
  });

  test('is counted and logged by operation, never by id', async () => {
    gateway.lines.length = 0;
    await post(decision(), { 'X-Request-Id': 'counted' });
    const line = JSON.parse(gateway.lines.find((it) => it.includes('counted')) ?? '');
    expect(line).toMatchObject({
      operation: 'recordDecision',
      route: '/v1/applications/{applicationId}/creditors/{creditorId}/decision',
      status: 200,
      caller: gateway.ids.integration,
    });
    const metrics = await gateway.process.metrics.text();
    expect(metrics).toMatch(
      /creditlane_http_requests_total\{operation="recordDecision",status="200"\} \d/,
    );
    expect(metrics).toContain(
      'creditlane_http_request_duration_seconds_bucket{le="0.001",operation="getDecision"}',
    );
    expect(metrics).not.toContain(gateway.ids.application);
  });
});
