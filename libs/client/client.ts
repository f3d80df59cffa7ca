/**
 * The client of the Creditlane REST interface: a function for each operation, typed from the OpenAPI document.
 * Uses fetch and Web Crypto alone, so that it runs in Node and on edge runtimes.
 */
import { MAX_TIMER_MS, sendUntilAnswered, type Transport } from './attempts.ts';
import { errorOfRepeatedPage } from './creditlane-error.ts';
import { OPERATIONS } from './gen/tables.ts';
import type { Answer, CallOptions, Client } from './operation-types.ts';
import {
  type OperationEntry,
  prepareRequest,
  type RawInput,
  type RequestDefaults,
} from './request.ts';

export { CreditlaneError, type FieldError } from './creditlane-error.ts';
export type { components, operations, webhooks } from './gen/openapi.ts';
export type {
  Answer,
  AnswerOf,
  CallOptions,
  Client,
  OperationId,
  OperationInput,
} from './operation-types.ts';

export interface ClientOptions {
  /** Where the interface is served, with its version: `https://api.example.com/v1`. */
  baseUrl: string;
  /** The key, or a function that gives the one that is valid now. */
  apiKey: string | (() => string | Promise<string>);
  /** Sent as X-Service-Retailer-ID with every call whose input names no other. */
  retailerId?: string;
  /** How long one attempt may take; 45 s by default: longer than the longest answer, `Prefer: wait=30`. */
  timeoutMs?: number;
  /** How often a call is sent at most; 4 by default, 1 for no retries. */
  maxAttempts?: number;
  /** A `Retry-After` beyond this ends the call with its error; 60 s by default. */
  maxRetryWaitMs?: number;
  /** Instead of the global fetch, such as one with a proxy or a connection pool of its own. */
  fetch?: typeof fetch;
}

/**
 * Throws a TypeError that names the option which is missing or wrong. Each function rejects with a CreditlaneError when the answer
 * is no success, and with a TypeError when a path parameter is missing, or an option of the call or the API key is wrong.
 */
export function createClient(options: ClientOptions): Client {
  checkOptions(options);
  const { baseUrl, apiKey, retailerId } = options;
  const defaults = { baseUrl: baseUrl.replace(/\/+$/, ''), retailerId };
  const transport: Transport = {
    // Edge runtimes refuse a fetch that is called as a function of another object than the global one.
    fetch: options.fetch ?? ((...args) => globalThis.fetch(...args)),
    apiKey: async () => (typeof apiKey === 'function' ? apiKey() : apiKey),
    timeoutMs: options.timeoutMs ?? 45_000,
    maxAttempts: options.maxAttempts ?? 4,
    maxRetryWaitMs: options.maxRetryWaitMs ?? 60_000,
  };
  const functions = Object.entries(OPERATIONS).map(([id, entry]) => [
    id,
    makeOperation(entry, defaults, transport),
  ]);
  return Object.fromEntries(functions) as Client;
}

/** For callers in JavaScript, too, whose options no compiler has checked. */
function checkOptions(options: ClientOptions | undefined): void {
  const { baseUrl, apiKey, retailerId, fetch, ...numbers } = (options ?? {}) as ClientOptions;
  if (!isHttpUrl(baseUrl)) {
    const found = baseUrl === undefined ? 'is missing' : `is ${JSON.stringify(baseUrl)}`;
    throw new TypeError(
      `baseUrl ${found}: give the URL of the interface, as in { baseUrl: 'https://api.example.com/v1' }`,
    );
  }
  const { username, password, search, hash } = new URL(baseUrl);
  if (username || password || search || hash) {
    // No message repeats a password.
    throw new TypeError('baseUrl has a user, a password, a query or a fragment: give it without');
  }
  // The value may be a key, so no message repeats it.
  if (typeof apiKey !== 'function' && (typeof apiKey !== 'string' || apiKey === '')) {
    const found = apiKey === undefined ? 'missing' : 'not a string or function, or empty';
    throw new TypeError(
      `apiKey is ${found}: give your API key, as in { apiKey: 'cl_live_…' }, or a ` +
        'function that returns it',
    );
  }
  if (retailerId !== undefined && typeof retailerId !== 'string') {
    throw new TypeError('retailerId is not a string: give the id of a retailer, or leave it out');
  }
  if (fetch !== undefined && typeof fetch !== 'function') {
    throw new TypeError('fetch is not a function: give one like the global fetch, or leave it out');
  }
  checkNumbers(numbers);
}

const NUMBERS = {
  timeoutMs: { least: 1, most: MAX_TIMER_MS },
  maxAttempts: { least: 1, most: Infinity },
  maxRetryWaitMs: { least: 0, most: Infinity },
};

function checkNumbers(options: Partial<Record<keyof typeof NUMBERS, unknown>>): void {
  for (const [name, { least, most }] of Object.entries(NUMBERS)) {
    const value = options[name as keyof typeof NUMBERS];
    if (value === undefined) continue;
    if (typeof value === 'number' && value >= least && value <= most) continue;
    const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
    const found = typeof value === 'number' ? value : JSON.stringify(value);
    throw new TypeError(`${name} is ${found}: give a number ${range}, or leave it out`);
  }
}

function isHttpUrl(text: unknown): boolean {
  return typeof text === 'string' && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

interface Page {
  data: unknown[];
  nextCursor?: string | null;
}

function makeOperation(entry: OperationEntry, defaults: RequestDefaults, transport: Transport) {
  async function call(input: RawInput = {}, options: CallOptions = {}): Promise<Answer> {
    checkNumbers(options);
    return sendUntilAnswered(transport, prepareRequest(entry, input, defaults), options);
  }
  if (entry.pageSize === undefined) return call;
  const { pageSize } = entry;
  async function* each(input: RawInput = {}, options?: CallOptions): AsyncGenerator<unknown> {
    // The largest pages need the fewest calls; a caller who wants few records gives a `limit`.
    let query: RawInput['query'] = { limit: pageSize, ...input.query };
    for (;;) {
      const { body, requestId } = await call({ ...input, query }, options);
      const { data, nextCursor } = body as Page;
      yield* data;
      // Also a proxy that drops what is null leaves a list an end.
      if (nextCursor === null || nextCursor === undefined) return;
      if (nextCursor === query?.cursor) throw errorOfRepeatedPage(requestId);
      query = { ...query, cursor: nextCursor };
    }
  }
  return Object.assign(call, { each });
}
