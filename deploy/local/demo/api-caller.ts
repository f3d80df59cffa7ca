// A client of the REST interface for the demo data.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { retryAfterMs } from '@creditlane/runtime/http/retry-after';

const MAX_ATTEMPTS = 5;
const TIMEOUT_MS = 60_000;

/**
 * Calls the REST interface with one key. A call that is answered with 503 is repeated after `Retry-After`, five attempts in
 * all. Any other answer but success, and the fifth 503, is an Error that quotes it.
 */
export class ApiCaller {
  readonly #baseUrl: string;
  readonly #key: string;

  constructor(baseUrl: string, key: string) {
    this.#baseUrl = baseUrl;
    this.#key = key;
  }

  put(path: string, body?: unknown) {
    return this.#call('PUT', path, body);
  }

  post(path: string, body?: unknown) {
    return this.#call('POST', path, body);
  }

  // biome-ignore lint/suspicious/noExplicitAny: the answers' shapes are the OpenAPI document's.
  async #call(method: string, path: string, body: unknown): Promise<any> {
    const headers = {
      authorization: `Bearer ${this.#key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    };
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(this.#baseUrl + path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await response.text();
      if (response.ok) return text === '' ? undefined : JSON.parse(text);
      if (response.status !== 503 || attempt === MAX_ATTEMPTS) {
        throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      }
      await delay(retryAfterMs(response.headers.get('retry-after'), Date.now()) ?? 1_000);
    }
  }
}
