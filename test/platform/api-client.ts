import type { Demo } from '@creditlane/local/demo';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the product answered.
  body: any;
}

export interface CallOptions {
  key?: string | null;
  headers?: Record<string, string>;
  /** Sent as JSON; a string or bytes are sent as they are. */
  body?: unknown;
  /** Ends the request, answered or not. */
  signal?: AbortSignal;
}

/** Calls the REST interface the way an integration does: real HTTP, with the demo's key unless told. */
export class Api {
  readonly #demo: Demo;

  constructor(demo: Demo) {
    this.#demo = demo;
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { key = this.#demo.keys.integration, body, headers, signal = null } = options;
    const response = await fetch(this.#demo.baseUrl + path, {
      method,
      signal,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: encode(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  }

  get(path: string, options?: CallOptions): Promise<Answer> {
    return this.call('GET', path, options);
  }

  post(path: string, body: unknown, options: CallOptions = {}): Promise<Answer> {
    return this.call('POST', path, { ...options, body });
  }
}

function encode(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return JSON.stringify(body);
}

/** The path of what a creditor decided on an application. */
export function decisionPath(at: { applicationId: string; creditorId: string }): string {
  return `/applications/${at.applicationId}/creditors/${at.creditorId}/decision`;
}

/** Decides on the demo's application; throws when that is refused. */
export async function decide(demo: Demo, decision: string): Promise<void> {
  const { applicationId } = demo;
  const { status } = await new Api(demo).post(decisionPath(demo), { applicationId, decision });
  if (status !== 200) throw new Error(`the decision was answered with ${status}`);
}
