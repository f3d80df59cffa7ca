/** Sends a request until it is answered, within a number of attempts and a time for each. */
import {
  CreditlaneError,
  errorBeforeSending,
  errorOfAnswer,
  errorWithoutAnswer,
} from './creditlane-error.ts';
import type { Answer, CallOptions } from './operation-types.ts';
import type { PreparedRequest } from './request.ts';
import { retryWaitMs } from './retry-policy.ts';

export interface Transport {
  fetch: typeof fetch;
  /** Read for every attempt, so that a key that was replaced takes effect at once. */
  apiKey(): Promise<string>;
  timeoutMs: number;
  maxAttempts: number;
  maxRetryWaitMs: number;
}

/** The longest time of a timer: a longer one ends at once. */
export const MAX_TIMER_MS = 2_147_483_647;

/**
 * Rejects with the last attempt's CreditlaneError; with the reason of `options.signal` when it aborts. The wait
 * that an answer asks for is never cut short: when `Retry-After` is longer than `maxRetryWaitMs`, the call rejects.
 */
export async function sendUntilAnswered(
  transport: Transport,
  request: PreparedRequest,
  options: CallOptions,
): Promise<Answer> {
  const { timeoutMs = transport.timeoutMs, maxAttempts = transport.maxAttempts, signal } = options;
  let isOutcomeUnknown = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await sendOnce(transport, { ...request, isOutcomeUnknown }, timeoutMs, signal);
    } catch (error) {
      if (!(error instanceof CreditlaneError && error.retryable) || attempt >= maxAttempts)
        throw error;
      isOutcomeUnknown = error.isOutcomeUnknown;
      const waitMs = retryWaitMs(attempt, error.retryAfterMs, Math.random());
      // Of what the answer asked for: the jitter and the client's own wait come on top.
      const isTooLong = (error.retryAfterMs ?? 0) > transport.maxRetryWaitMs;
      if (isTooLong || waitMs > MAX_TIMER_MS) throw error;
      await wait(waitMs, signal);
    }
  }
}

/** One attempt. The answer's body is part of it: a connection that breaks within the body is retried, too. */
async function sendOnce(
  transport: Transport,
  request: PreparedRequest & { isOutcomeUnknown: boolean },
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const headers = new Headers(request.headers);
  const { response, bytes } = await withDeadline(timeoutMs, signal, async (abort) => {
    const key = await untilAborted(transport.apiKey(), abort).catch((error) => {
      const [code, message] = abort.aborted
        ? (['timeout', `No API key within ${timeoutMs} ms.`] as const)
        : (['api_key_unavailable', 'The function for the API key failed.'] as const);
      throw errorBeforeSending(code, message, request, error);
    });
    headers.set('authorization', bearer(key));
    const { url, method, body } = request;
    // A redirected POST may become a GET without its body, so redirects are errors.
    const init = { method, headers, redirect: 'manual', signal: abort } as const;
    try {
      const response = await transport.fetch(url, body === undefined ? init : { ...init, body });
      return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
    } catch (error) {
      const [code, message] = abort.aborted
        ? (['timeout', `No answer within ${timeoutMs} ms.`] as const)
        : (['network_failure', `No answer: ${reasonOf(error)}.`] as const);
      throw errorWithoutAnswer(code, message, request, error);
    }
  });
  const body = readBody(response, bytes, request.headers.get('accept'));
  if (!response.ok || !body.isExpected) throw errorOfAnswer(response, body.value, request);
  return {
    status: response.status,
    body: body.value,
    headers: response.headers,
    requestId: response.headers.get('x-request-id') ?? request.requestId,
    replayed: response.headers.get('idempotent-replayed') === 'true',
  };
}

/** Throws without the key: fetch would repeat a value that is no header in its error's message. */
function bearer(key: unknown): string {
  // A test of undefined alone would be one of the text "undefined".
  if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key)) {
    const wrong = 'missing, empty, or has white space or characters beyond ASCII in it';
    throw new TypeError(`the API key is ${wrong}`);
  }
  return `Bearer ${key}`;
}

/** JSON, bytes of the accepted type, or nothing. `isExpected` is false for anything else, such as a page of HTML. */
function readBody(
  { status, headers }: Response,
  bytes: Uint8Array,
  accepted: string | null,
): { value?: unknown; isExpected: boolean } {
  if (bytes.length === 0) return { isExpected: status === 204 || status === 202 };
  const [type = ''] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  if (/^application\/([\w.-]+\+)?json\s*$/.test(type)) {
    try {
      return { value: JSON.parse(new TextDecoder().decode(bytes)), isExpected: true };
    } catch {
      // Not JSON in spite of its type.
      return { isExpected: false };
    }
  }
  return type.trim() === accepted ? { value: bytes, isExpected: true } : { isExpected: false };
}

/**
 * Runs an attempt, whose signal aborts after the time and when `signal` does. Rejects with the reason of `signal` when that has
 * aborted, and else with the error of the attempt.
 */
async function withDeadline<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  attempt: (abort: AbortSignal) => Promise<T>,
): Promise<T> {
  // AbortSignal.any with AbortSignal.timeout would do the same, but Node 20 and 22 may collect the pair as
  // garbage before the timeout, so that the attempt never ends.
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    // A listener that is added to an aborted signal is never called.
    signal?.throwIfAborted();
    return await attempt(controller.signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** Settles as the promise does; rejects with the signal's reason when it aborts before. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}

/** Resolves after `waitMs`; rejects with the signal's reason when it aborts. */
function wait(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, waitMs);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

/** fetch of Node says "fetch failed", and the reason in `cause`. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string } };
  return cause?.message || message || String(error);
}
