import { describe, expect, test } from 'vitest';
import { type Client, type ClientOptions, CreditlaneError, createClient } from './client.ts';
import { OPERATIONS } from './gen/tables.ts';
import { hang, json, startScriptedServer } from './test-scripted-server.ts';

const IDS = { applicationId: 'a-1', creditorId: 'c-1' };
const DECISION = { path: IDS, body: { applicationId: 'a-1', decision: 'DECLINED' } } as const;

async function start(
  answers: Parameters<typeof startScriptedServer>,
  options: Partial<ClientOptions> = {},
) {
  const server = await startScriptedServer(...answers);
  const client = createClient({ baseUrl: server.baseUrl, apiKey: 'cl_test_key', ...options });
  return { client, ...server };
}

async function rejection(call: Promise<unknown>): Promise<CreditlaneError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CreditlaneError);
  return error as CreditlaneError;
}

describe('a client', () => {
  test.each(Object.entries(OPERATIONS))(
    'has a function %s that sends the described method and path, and a key with each POST',
    async (id, entry) => {
      const { method, path } = entry;
      const { client, requests } = await start([json(200, { data: [], nextCursor: null })]);
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      const values = Object.fromEntries(names.map((name) => [name, `${name} 1/2`]));
      type Call = (input: object) => Promise<unknown>;
      await (client[id as keyof Client] as Call)({
        path: values,
        body: method === 'POST' ? {} : undefined,
      });

      const [request] = requests;
      const expected = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(`${name} 1/2`));
      expect([request?.method, request?.url]).toEqual([method, `/v1${expected}`]);
      expect(request?.headers.authorization).toBe('Bearer cl_test_key');
      expect(typeof request?.headers['idempotency-key']).toBe(
        'takesKey' in entry ? 'string' : 'undefined',
      );
      expect('takesKey' in entry).toBe(method === 'POST' || id === 'setDestination');
    },
  );

  test('sends the body as JSON and the given query and header parameters, without those undefined or null', async () => {
    const { client, requests } = await start([json(200, { data: [], nextCursor: null })]);
    await client.recordDecision({
      ...DECISION,
      header: { 'Idempotency-Key': 'key-1', 'X-Request-Id': 'id-1' },
    });
    await client.listDecisions({ path: IDS, query: { limit: 7, cursor: 'a b&c' } });
    for (const absent of [undefined, null]) {
      const query = { limit: absent } as unknown as { limit: number };
      await client.listDecisions({ path: IDS, query });
    }

    const [post, list, ...withoutQuery] = requests;
    expect(JSON.parse(post?.body ?? '')).toEqual(DECISION.body);
    expect(post?.headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': 'key-1',
      'x-request-id': 'id-1',
    });
    expect(new URL(list?.url ?? '', 'http://x').searchParams.get('cursor')).toBe('a b&c');
    expect(list?.url).toContain('limit=7');
    expect(withoutQuery.map(({ url }) => url?.includes('?'))).toEqual([false, false]);
  });

  test('sends its retailerId with every call, and the retailer of a call instead when it names one', async () => {
    const { client, requests } = await start([json(200, {})], { retailerId: 'r-1' });
    await client.getDecision({ path: IDS });
    await client.getDecision({ path: IDS, header: { 'X-Service-Retailer-ID': 'r-2' } });
    expect(requests.map(({ headers }) => headers['x-service-retailer-id'])).toEqual(['r-1', 'r-2']);
  });

  test('asks a function for the key before each attempt', async () => {
    const keys = ['old', 'new'];
    const { client, requests } = await start([json(503, {}), json(200, {})], {
      apiKey: async () => keys.shift() ?? '',
    });
    await client.getDecision({ path: IDS });
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer old',
      'Bearer new',
    ]);
  });

  test('rejects when the function for the key gives none, and sends nothing', async () => {
    const apiKey = (() => undefined) as unknown as () => string;
    const { client, requests } = await start([json(200, {})], { apiKey });
    await expect(client.getDecision({ path: IDS })).rejects.toThrow('the API key is');
    expect(requests).toEqual([]);
  });

  test('rejects a key that is no header value without repeating the key, and sends nothing', async () => {
    const { client, requests } = await start([json(200, {})], { apiKey: 'cl_live_secret\n' });
    const message = await client.getDecision({ path: IDS }).catch(({ message }) => message);
    expect(message).toMatch(/white space/);
    expect(message).not.toContain('secret');
    expect(requests).toEqual([]);
  });

  test.each(['', '.', '..'])(
    'rejects the path parameter "%s", which would lead to another operation, and sends nothing',
    async (applicationId) => {
      const { client, requests } = await start([json(200, {})]);
      const call = client.getApplication({ path: { applicationId } });
      await expect(call).rejects.toThrow(/path\.applicationId/);
      expect(requests).toEqual([]);
    },
  );

  const baseUrl = 'http://127.0.0.1/v1';
  test.each<[string, unknown, RegExp]>([
    [
      'no options',
      undefined,
      /^baseUrl is missing: give the URL .*https:\/\/api\.example\.com\/v1/,
    ],
    ['a path as baseUrl', { baseUrl: '/v1', apiKey: 'k' }, /^baseUrl is "\/v1": give the URL/],
    ['a baseUrl of another scheme', { baseUrl: 'ftp://x', apiKey: 'k' }, /^baseUrl is "ftp:\/\/x"/],
    ['no apiKey', { baseUrl }, /^apiKey is missing: give your API key/],
    ['an empty apiKey', { baseUrl, apiKey: '' }, /^apiKey is not a string or function, or empty/],
    ['a number as apiKey', { baseUrl, apiKey: 1 }, /^apiKey is not a string/],
    ['a retailerId of no string', { baseUrl, apiKey: 'k', retailerId: 1 }, /^retailerId is not/],
    ['a fetch of no function', { baseUrl, apiKey: 'k', fetch: {} }, /^fetch is not a function/],
    [
      'a timeout of no number',
      { baseUrl, apiKey: 'k', timeoutMs: '5s' },
      /^timeoutMs is "5s": give/,
    ],
    ['no attempts', { baseUrl, apiKey: 'k', maxAttempts: 0 }, /^maxAttempts is 0: give .* 1/],
    [
      'a timeout of no end',
      { baseUrl, apiKey: 'k', timeoutMs: Infinity },
      /^timeoutMs is Infinity: give a number from 1 to 2147483647/,
    ],
    [
      'a password in baseUrl',
      { baseUrl: 'http://u:secret@127.0.0.1/v1', apiKey: 'k' },
      /^(?!.*secret)baseUrl has a user, a password/,
    ],
  ])(
    'with %s is refused by a message that names the option and how to give it',
    (_, options, says) => {
      expect(() => createClient(options as ClientOptions)).toThrow(TypeError);
      expect(() => createClient(options as ClientOptions)).toThrow(says);
    },
  );

  test.each([{ maxAttempts: Number.NaN }, { timeoutMs: 0 }])(
    'rejects the options %o of a call, and sends nothing',
    async (options) => {
      const { client, requests } = await start([json(200, {})]);
      await expect(client.getDecision({ path: IDS }, options)).rejects.toThrow(TypeError);
      expect(requests).toEqual([]);
    },
  );

  test('answers with status, body, headers, request id and whether the answer was replayed', async () => {
    const headers = { 'x-request-id': 'id-9', 'idempotent-replayed': 'true', 'x-other': '1' };
    const { client } = await start([
      json(200, { decision: 'DECLINED' }, headers),
      (it) => it.writeHead(204).end(),
    ]);
    const answer = await client.recordDecision(DECISION);
    expect(answer).toMatchObject({ status: 200, requestId: 'id-9', replayed: true });
    expect(answer.body.decision).toBe('DECLINED');
    expect(answer.headers.get('x-other')).toBe('1');
    const withdrawn = await client.revokeKey({ path: { integrationId: 'i', keyId: 'k' } });
    expect(withdrawn).toMatchObject({ status: 204, body: undefined, replayed: false });
  });
});

describe('an answer that is not a success', () => {
  test('becomes an error with status, code, message, request id and the fields at fault', async () => {
    const errors = [{ pointer: '/decision', message: 'must be one of BOOKED' }];
    const body = {
      status: 400,
      message: 'decision: must be …',
      code: 'invalid_request',
      requestId: 'x',
      errors,
    };
    const { client } = await start([json(400, body, { 'x-request-id': 'id-9' })]);
    const error = await rejection(client.recordDecision(DECISION));
    expect(error).toMatchObject({
      name: 'CreditlaneError',
      status: 400,
      code: 'invalid_request',
      message: 'decision: must be …',
      requestId: 'id-9',
      errors,
      retryable: false,
    });
  });

  test('has the code http_401 when its body is {"status":401} alone', async () => {
    const { client } = await start([json(401, { status: 401 })]);
    const error = await rejection(client.getDecision({ path: IDS }));
    expect(error).toMatchObject({ status: 401, code: 'http_401', errors: [] });
  });

  test('is an unexpected answer when it is a redirect, which is not followed, or a page of HTML', async () => {
    const { client, requests } = await start([
      (it) => it.writeHead(301, { location: 'https://elsewhere.example/' }).end(),
      (it) => it.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in</p>'),
      (it) => it.writeHead(200, { 'content-type': 'application/json' }).end('{"cut'),
    ]);
    const redirected = await rejection(client.getDecision({ path: IDS }));
    expect(redirected).toMatchObject({ status: 301, code: 'unexpected_answer', retryable: false });
    expect(redirected.isOutcomeUnknown).toBe(false);
    expect(redirected.message).toContain('https://elsewhere.example/');
    for (const _ of ['HTML', 'no JSON']) {
      const error = await rejection(client.getDecision({ path: IDS }));
      expect(error).toMatchObject({ status: 200, code: 'unexpected_answer', retryable: false });
      // Creditlane may have answered with the success that was replaced or cut on its way.
      expect(error.isOutcomeUnknown).toBe(true);
    }
    expect(requests).toHaveLength(3);
  });
});

describe('a list', () => {
  const page = (data: number[], nextCursor: string | null) => json(200, { data, nextCursor });

  test('is read page by page with the largest limit, each page when its first record is asked for', async () => {
    const { client, requests } = await start([page([1, 2], 'c1'), page([], 'c2'), page([3], null)]);
    const records = client.listDecisions.each({ path: IDS });
    expect(requests).toHaveLength(0);
    const [first, second] = [await records.next(), await records.next()];
    expect([first.value, second.value]).toEqual([1, 2]);
    expect(requests).toHaveLength(1);
    expect((await records.next()).value).toBe(3);
    expect((await records.next()).done).toBe(true);
    const decisions = '/v1/applications/a-1/creditors/c-1/decisions?limit=100';
    expect(requests.map(({ url }) => url)).toEqual([
      decisions,
      `${decisions}&cursor=c1`,
      `${decisions}&cursor=c2`,
    ]);
  });

  test('ends with a page without the next cursor, as a proxy that drops null leaves it', async () => {
    const { client } = await start([json(200, { data: [1] })]);
    const records = client.listDecisions.each({ path: IDS });
    expect((await records.next()).value).toBe(1);
    expect((await records.next()).done).toBe(true);
  });

  test.each([
    ['the page before', [page([1], 'c1'), page([2], 'c1')], {}],
    ['the given page', [page([1], 'c1')], { cursor: 'c1' }],
  ])('rejects when the next page is %s again', async (_, answers, query) => {
    const { client, requests } = await start(answers);
    const readAll = async () => {
      for await (const _ of client.listDecisions.each({ path: IDS, query }));
    };
    await expect(readAll()).rejects.toMatchObject({ code: 'unexpected_answer', retryable: false });
    expect(requests).toHaveLength(answers.length);
  });

  test('begins at a given cursor with a given limit, and ends with the loop that reads it', async () => {
    const { client, requests } = await start([page([1], 'c6')]);
    const query = { limit: 1, cursor: 'c5' };
    for await (const _ of client.listDecisions.each({ path: IDS, query })) break;
    expect(requests.map(({ url }) => url.split('?')[1])).toEqual(['limit=1&cursor=c5']);
  });

  test('rejects when the signal of the call aborts between two pages', async () => {
    const { client } = await start([page([1], 'c1'), hang]);
    const controller = new AbortController();
    const records = client.listDecisions.each({ path: IDS }, { signal: controller.signal });
    await records.next();
    controller.abort(new Error('closed'));
    await expect(records.next()).rejects.toThrow('closed');
  });
});
