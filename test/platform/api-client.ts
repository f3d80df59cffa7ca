import { requireDescribedAnswer } from '@creditlane/gateway/document/test-described-answers';
import type { Demo } from '@creditlane/local/demo/demo';
import { eventually } from './eventually.ts';

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the API answered.
  body: any;
}

export interface CallOptions {
  /** The API key; null sends none. The key of the demo integration when left out. */
  key?: string | null;
  headers?: Record<string, string>;
  /** Sent as JSON; a string or bytes are sent as they are. */
  body?: unknown;
  /** Aborts the request. */
  signal?: AbortSignal;
}

/** Calls the REST API over HTTP, as an integration does. */
export class ApiClient {
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
      ...(body === undefined ? {} : { body: encodeBody(body) }),
    });
    const text = await response.text();
    requireDescribedAnswer(method, response, text);
    return {
      status: response.status,
      headers: response.headers,
      body: isJson(response) && text !== '' ? JSON.parse(text) : text || undefined,
    };
  }

  get(path: string, options?: CallOptions): Promise<Answer> {
    return this.call('GET', path, options);
  }

  post(path: string, body: unknown, options: CallOptions = {}): Promise<Answer> {
    return this.call('POST', path, { ...options, body });
  }
}

/** fetch, rejecting when the OpenAPI document does not describe the answer. */
export async function fetchDescribedAnswer(
  ...[input, init]: Parameters<typeof fetch>
): Promise<Response> {
  const response = await fetch(input, init);
  requireDescribedAnswer(init?.method ?? 'GET', response, await response.clone().text());
  return response;
}

function isJson({ headers }: Response): boolean {
  return /json/.test(headers.get('content-type') ?? '');
}

function encodeBody(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return JSON.stringify(body);
}

export interface SubmissionIds {
  applicationId: string;
  creditorId: string;
}

/** The path of a submission's latest decision. With an `s` at its end: all decisions, newest first. */
export function decisionPath({ applicationId, creditorId }: SubmissionIds): string {
  return `/applications/${applicationId}/creditors/${creditorId}/decision`;
}

/** Records a decision on the demo submission. Throws unless the answer is 200. */
export async function recordDemoDecision(demo: Demo, decision: string): Promise<void> {
  const { applicationId } = demo;
  const { status } = await new ApiClient(demo).post(decisionPath(demo), {
    applicationId,
    decision,
  });
  if (status !== 200) throw new Error(`the decision ${decision} was answered with ${status}`);
}

/** Has the credit file of the demo's applicant pulled, and opens the link to its PDF, as it is and without a key. */
export async function openDemoDocument(demo: Demo): Promise<Response> {
  const { applicationId, applicantId } = demo.creditFile;
  const path = `/applications/${applicationId}/credit-file/${applicantId}`;
  const api = new ApiClient(demo);
  // 503 until the services are connected again to those that have just been restarted.
  const requested = await untilServed(() => api.post(`${path}/request`, { source: 'EQUIFAX' }));
  const { status, body } = await api.get(path, { headers: { Prefer: 'wait=30' } });
  if (requested.status !== 202 || status !== 200) {
    throw new Error(`the credit file was answered with ${requested.status} and ${status}`);
  }
  // 503 when the first PDF of a process takes longer than a request may, as on a machine under load.
  return untilServed(() => fetch(body.signedPdfUrl));
}

/** Repeats a request while it is answered with 503. */
export function untilServed<T extends { status: number }>(send: () => Promise<T>): Promise<T> {
  return eventually('answer other than 503', async () => {
    const answer = await send();
    return answer.status === 503 ? undefined : answer;
  });
}
