import { describe, expect, test } from 'vitest';
import { sendUntilAnswered } from './attempts.ts';
import { type ClientOptions, CreditlaneError, createClient } from './client.ts';
import { prepareRequest } from './request.ts';
import {
  cutBody,
  hang,
  json,
  reset,
  type ScriptedAnswer,
  startScriptedServer,
} from './test-scripted-server.ts';

const INPUT = {
  path: { applicationId: 'a-1', creditorId: 'c-1' },
  body: { applicationId: 'a-1', decision: 'DECLINED' },
} as const;
const SUCCESS = json(200, { decision: 'DECLINED' });
const error = (status: number, code: string, headers = {}) =>
  json(status, { status, code, message: 'Refused.', requestId: 'id' }, headers);

async function start(answers: ScriptedAnswer[], options: Partial<ClientOptions> = {}) {
  const { baseUrl, requests } = await startScriptedServer(...answers);
  const client = createClient({ baseUrl, apiKey: 'k', ...options });
  return { client, requests, record: () => client.recordDecision(INPUT) };
}

function throwVault(): never {
  throw new Error('vault');
}

async function rejection(call: Promise<unknown>): Promise<CreditlaneError> {
  const reason = await call.catch((error: unknown) => error);
  expect(reason).toBeInstanceOf(CreditlaneError);
  return reason as CreditlaneError;
}

describe('an attempt that may succeed later', () => {
  const RETRIED: Record<string, ScriptedAnswer> = {
    '408': error(408, 'request_timeout'),
    '429': error(429, 'rate_limited'),
    '502 of a proxy': (response) => response.writeHead(502).end('<p>Bad gateway</p>'),
    '503': error(503, 'unavailable', { 'retry-after': '0' }),
    '504 of a proxy': (response) => response.writeHead(504).end(),
    '409 idempotency_in_progress': error(409, 'idempotency_in_progress'),
    'a reset connection': reset,
    'a connection that breaks within the answer': cutBody,
  };
  test.each(Object.entries(RETRIED))(
    'is repeated after %s with the same key, request id and body',
    async (_, failure) => {
      const { record, requests } = await start([failure, SUCCESS]);
      expect((await record()).body.decision).toBe('DECLINED');
      const [first, second] = requests;
      expect(requests).toHaveLength(2);
      expect(first?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
      for (const header of ['idempotency-key', 'x-request-id']) {
        expect(second?.headers[header]).toBe(first?.headers[header]);
      }
      expect(second?.body).toBe(first?.body);
    },
  );

  test('waits at least as long as Retry-After says', async () => {
    const { record, requests } = await start([
      error(503, 'overloaded', { 'retry-after': '1' }),
      SUCCESS,
    ]);
    await record();
    const [first, second] = requests.map(({ receivedAtMs }) => receivedAtMs);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test('is not repeated when Retry-After is longer than maxRetryWaitMs, which the error says', async () => {
    const { record, requests } = await start([
      error(429, 'rate_limited', { 'retry-after': '120' }),
    ]);
    const refused = await rejection(record());
    expect(refused).toMatchObject({ status: 429, retryable: true, retryAfterMs: 120_000 });
    expect(requests).toHaveLength(1);
  });

  test.each([
    ['Retry-After is as long as', 1_000, error(429, 'rate_limited', { 'retry-after': '1' })],
    ['the answer has no Retry-After, whatever', 0, error(503, 'unavailable')],
  ])('is repeated when %s maxRetryWaitMs', async (_, maxRetryWaitMs, failure) => {
    const { record, requests } = await start([failure, SUCCESS], { maxRetryWaitMs });
    await record();
    expect(requests).toHaveLength(2);
  });

  test('is repeated up to maxAttempts, and the call rejects with the last error', async () => {
    const { record, client, requests } = await start(
      [error(503, 'unavailable'), error(503, 'overloaded')],
      { maxAttempts: 2 },
    );
    expect(await rejection(record())).toMatchObject({ code: 'overloaded', retryable: true });
    expect(requests).toHaveLength(2);
    await rejection(client.recordDecision(INPUT, { maxAttempts: 1 }));
    expect(requests).toHaveLength(3);
  });
});

describe('a call that was refused at last', () => {
  test.each([
    ['no answer', reset, true],
    [
      '504 of a proxy',
      (response: Parameters<typeof reset>[0]) => response.writeHead(504).end(),
      true,
    ],
    ['503', error(503, 'unavailable', { 'retry-after': '0' }), true],
    ['409 idempotency_in_progress', error(409, 'idempotency_in_progress'), true],
    ['429', error(429, 'rate_limited', { 'retry-after': '0' }), false],
  ] as [string, ScriptedAnswer, boolean][])(
    'after %s says whether the earlier attempt may have taken effect',
    async (_, earlier, isOutcomeUnknown) => {
      const { record } = await start([earlier, error(403, 'permission_missing')]);
      expect(await rejection(record())).toMatchObject({ status: 403, isOutcomeUnknown });
    },
  );
});

describe('an attempt that was refused', () => {
  test.each([
    [400, 'invalid_request'],
    [401, 'key_rejected'],
    [403, 'permission_missing'],
    [404, 'submission_not_found'],
    [409, 'reference_number_taken'],
    [413, 'body_too_large'],
    [415, 'not_json'],
    [422, 'idempotency_key_reused'],
    [500, 'internal_error'],
  ])('with %i %s is not repeated', async (status, code) => {
    const { record, requests } = await start([error(status, code), SUCCESS]);
    expect(await rejection(record())).toMatchObject({ status, code, retryable: false });
    expect(requests).toHaveLength(1);
  });
});

describe('a call without an answer', () => {
  test('rejects with network_failure, no status, and the key with which to repeat the call', async () => {
    const { record, requests } = await start([reset], { maxAttempts: 1 });
    const failure = await rejection(record());
    expect(failure).toMatchObject({ status: undefined, code: 'network_failure', retryable: true });
    expect(failure.idempotencyKey).toBe(requests[0]?.headers['idempotency-key']);
    expect(failure.requestId).toBe(requests[0]?.headers['x-request-id']);
    expect(failure.cause).toBeDefined();
  });

  test('rejects with timeout when an attempt takes longer than timeoutMs, its body included', async () => {
    const slowBody: ScriptedAnswer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    };
    const { record } = await start([hang, slowBody], { timeoutMs: 100, maxAttempts: 1 });
    for (const _ of ['no head', 'no end of the body']) {
      const failure = await rejection(record());
      expect(failure).toMatchObject({ status: undefined, code: 'timeout', retryable: true });
    }
  });

  test('rejects with the reason of its signal, during an attempt and while it waits for the next', async () => {
    const answers = [hang, error(503, 'unavailable', { 'retry-after': '30' })];
    const { client, requests } = await start(answers);
    for (const count of [1, 2]) {
      const controller = new AbortController();
      const call = client.recordDecision(INPUT, { signal: controller.signal });
      const rejected = expect(call).rejects.toThrow('closed');
      await expect.poll(() => requests.length).toBe(count);
      controller.abort(new Error('closed'));
      await rejected;
    }
    const aborted = client.recordDecision(INPUT, {
      signal: AbortSignal.abort(new Error('before')),
    });
    await expect(aborted).rejects.toThrow('before');
    expect(requests).toHaveLength(2);
  });

  test.each([
    ['timeout', { timeoutMs: 20, maxAttempts: 1 }, () => undefined, /within 20 ms/],
    ['reason of its signal', {}, (it: AbortController) => it.abort(new Error('closed')), /closed/],
  ])('whose key is never fetched rejects with the %s', async (_, limits, onWaiting, says) => {
    const controller = new AbortController();
    const apiKey = () => {
      setImmediate(onWaiting, controller);
      return new Promise<string>(() => {});
    };
    const { client, requests } = await start([SUCCESS], { apiKey, ...limits });
    const call = client.recordDecision(INPUT, { signal: controller.signal });
    await expect(call).rejects.toThrow(says);
    expect(requests).toEqual([]);
  });

  test.each([
    ['is never there', () => new Promise<string>(() => {}), 'timeout'],
    ['cannot be fetched', () => Promise.reject(new Error('vault')), 'api_key_unavailable'],
    ['fails to be fetched at once', () => throwVault(), 'api_key_unavailable'],
  ])('whose key %s was not sent, unless an attempt before was', async (_, second, code) => {
    const limits = { timeoutMs: 200, maxAttempts: 1 };
    const { client, requests } = await start([], { apiKey: second, ...limits });
    const found = await rejection(client.recordDecision(INPUT));
    expect(found).toMatchObject({ code, isOutcomeUnknown: false, status: undefined });
    expect(found.cause).toBeInstanceOf(Error);
    expect(found.idempotencyKey).toBeDefined();
    expect(requests).toEqual([]);

    const keys = [async () => 'k', second];
    const apiKey = () => (keys.shift() ?? second)();
    const repeated = await start([reset], { apiKey, timeoutMs: 200, maxAttempts: 2 });
    const unknown = await rejection(repeated.record());
    expect(unknown).toMatchObject({ code, isOutcomeUnknown: true });
  });

  test('sends no request when its signal aborts while the key is fetched', async () => {
    const controller = new AbortController();
    const apiKey = async () => {
      controller.abort(new Error('closed'));
      return 'k';
    };
    const { client, requests } = await start([SUCCESS], { apiKey });
    const call = client.recordDecision(INPUT, { signal: controller.signal });
    await expect(call).rejects.toThrow('closed');
    expect(requests).toHaveLength(0);
  });
});

describe('an operation that answers with other content than JSON', () => {
  test('gives the bytes of the accepted type', async () => {
    const bytes = Uint8Array.of(0x25, 0x50, 0x44, 0x46, 0xff);
    const { baseUrl, requests } = await startScriptedServer((response) =>
      response.writeHead(200, { 'content-type': 'application/pdf' }).end(bytes),
    );
    const entry = { method: 'GET', path: '/file', accept: 'application/pdf' };
    const transport = {
      fetch,
      apiKey: async () => 'k',
      timeoutMs: 10_000,
      maxAttempts: 1,
      maxRetryWaitMs: 0,
    };
    const request = prepareRequest(entry, {}, { baseUrl, retailerId: undefined });
    const answer = await sendUntilAnswered(transport, request, {});
    expect(answer.body).toEqual(bytes);
    expect(requests[0]?.headers.accept).toBe('application/pdf');
  });
});
