import { request as httpRequest } from 'node:http';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, describe, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

const gateway = await startTestGateway();
const { decision, postDecision } = gateway;
afterAll(gateway.close);

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
    ['not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'not_utf8', /UTF-8/],
    ['empty', '', 'body_missing', /^the body is required/],
    ['a list', '[]', 'invalid_request', /^the body must be an object$/],
    ['null', 'null', 'invalid_request', /^the body must be an object$/],
  ])(
    'a body %s is 400 and says what is wrong with the whole body',
    async (_, body, code, message) => {
      const answer = await gateway.send('POST', gateway.decisionPath, { body });
      expect(answer.status).toBe(400);
      expect(answer.json.code).toBe(code);
      expect(answer.json.message).toMatch(message);
      const [error] = answer.json.errors;
      expect(answer.json.errors).toEqual([{ pointer: '', message: expect.any(String) }]);
      expect(answer.json.message).toBe(`the body ${error.message}`);
    },
  );

  test('a body with an array that is too long is 400 and names the array with its limit', async () => {
    const body = { primaryApplicant: { addressHistory: Array(21).fill(0) } };
    const answer = await gateway.send('POST', '/v1/applications', { body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      code: 'invalid_request',
      message: '/primaryApplicant/addressHistory must have at most 20 items',
      errors: [
        { pointer: '/primaryApplicant/addressHistory', message: 'must have at most 20 items' },
      ],
    });
  });

  test('a byte order mark is ignored', async () => {
    expect((await postDecision(`\ufeff${JSON.stringify(decision())}`)).status).toBe(200);
  });

  test.each([
    ['text/plain', {}],
    ['application/x-www-form-urlencoded', {}],
    ['application/json; charset=iso-8859-1', {}],
    ['application/problem+json', {}],
    ['application', {}],
    ['application/json', { 'content-encoding': 'gzip' }],
  ])('%s with %o is 415', async (type, headers) => {
    const answer = await postDecision(decision(), { 'content-type': type, ...headers });
    expect(answer.status).toBe(415);
    expect(answer.json.code).toBe('not_json');
  });

  test.each([
    'Application/JSON; charset=UTF-8',
    'application/json;charset="utf8"',
    'application/json; charset=us-ascii',
    'application/json; version=1; profile="https://example.com/decision"',
    'application/json;',
  ])('%s is accepted', async (type) => {
    expect((await postDecision(decision(), { 'content-type': type })).status).toBe(200);
  });

  test('a body of as many bytes as its operation takes is accepted, and one byte more is 413', async () => {
    const padded = (bytes: number) => JSON.stringify(decision()).padEnd(bytes);
    expect((await postDecision(padded(128 * 1024))).status).toBe(200);
    const answer = await postDecision(padded(128 * 1024 + 1));
    expect(answer.status).toBe(413);
    expect(answer.json.code).toBe('body_too_large');
    expect(answer.json.message).toBe(
      'the body is larger than the 128 KiB that this operation takes',
    );
    const huge = await postDecision(padded(1024 * 1024 + 1));
    expect(huge.status).toBe(413);
    expect(huge.headers.get('connection')).toBe('close');
  });

  test('the longest values of every field, written with escape sequences, are within the limit', async () => {
    const long = (length: number) => '\u00e9'.repeat(length);
    const fields = { conditions: long(10_000), program: long(200), tier: long(200) };
    const ascii = JSON.stringify({ ...decision(), ...fields }).replaceAll('é', '\\u00e9');
    expect((await postDecision(ascii)).status).toBe(200);
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

  test('a body in chunks without a byte is no body, and one of another type is 415', async () => {
    const send = (method: string, path: string, key: string, body: string) =>
      new Promise<[number | undefined, string]>((resolve, reject) => {
        const headers = { authorization: key, 'transfer-encoding': 'chunked' };
        const sending = httpRequest(gateway.url + path, { method, headers });
        sending.on('response', async (response) => {
          const text = (await response.toArray()).join('');
          resolve([response.statusCode, text === '' ? '' : JSON.parse(text).code]);
        });
        sending.on('error', reject);
        sending.end(body);
      });
    const key = `/v1/platform/integrations/${newId()}/keys/${newId()}`;
    expect(await send('DELETE', key, gateway.platformKey, '')).toEqual([204, '']);
    expect(await send('DELETE', key, gateway.platformKey, 'x')).toEqual([415, 'not_json']);
    const decide = (body: string) => send('POST', gateway.decisionPath, gateway.key, body);
    expect(await decide('')).toEqual([400, 'body_missing']);
    expect(await decide('{}')).toEqual([415, 'not_json']);
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
