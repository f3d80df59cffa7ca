/** The one error of the client: an answer that is not a success, no answer at all, or no request without a key. */
import { retryAfterMs } from '../runtime/http/retry-after.ts';
import type { components } from './gen/openapi.ts';

export type FieldError = components['schemas']['FieldError'];

/** No answer came: the connection failed or broke, or the attempt's time ran out. */
type NoAnswerCode = 'network_failure' | 'timeout';
/** Nothing was sent: the function for the API key failed, or the attempt's time ran out before the key was there. */
type UnsentCode = 'api_key_unavailable' | 'timeout';
/** Not an answer of Creditlane, such as a redirect or a proxy's page of HTML. */
const UNEXPECTED_ANSWER = 'unexpected_answer';
const IN_PROGRESS = 'idempotency_in_progress';

interface ErrorFields {
  code: string;
  requestId: string;
  retryable: boolean;
  isOutcomeUnknown?: boolean;
  idempotencyKey?: string | undefined;
  status?: number | undefined;
  errors?: readonly FieldError[] | undefined;
  retryAfterMs?: number | undefined;
}

/** The request that an error is about. */
interface FailedRequest {
  requestId: string;
  idempotencyKey: string | undefined;
  /** Whether an earlier attempt may have taken effect. */
  isOutcomeUnknown: boolean;
}

export class CreditlaneError extends Error {
  override readonly name = 'CreditlaneError';
  /** The HTTP status of the last attempt; undefined when no answer came. */
  readonly status: number | undefined;
  /**
   * Whether the call may have taken effect all the same: an attempt got no answer, one of a server that failed (5xx), a
   * success that is not Creditlane's (`unexpected_answer`), or 409 `idempotency_in_progress`, whatever the last attempt was
   * answered. Repeat a POST with `idempotencyKey` then, not as a new one.
   */
  readonly isOutcomeUnknown: boolean;
  /**
   * The error body's `code`, for programs. `network_failure` and `timeout` when no answer came, `api_key_unavailable` when
   * the function for the API key failed, whose error is the cause, `http_401` and the like for an error body without a code,
   * `unexpected_answer` for an answer that is not Creditlane's.
   */
  readonly code: string;
  /** Under this id the request is in Creditlane's logs, if it arrived. */
  readonly requestId: string;
  /** The fields at fault, or the whole body with an empty pointer; empty when the error is not about the input. */
  readonly errors: readonly FieldError[];
  /** Whether the same call may succeed later. Repeat a POST with `idempotencyKey`. */
  readonly retryable: boolean;
  /** How long the answer asks to wait; undefined when it does not say. */
  readonly retryAfterMs: number | undefined;
  /** The key that was sent: a POST repeated with this key takes effect at most once. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, fields: ErrorFields, options?: { cause?: unknown }) {
    super(message, options);
    this.status = fields.status;
    this.isOutcomeUnknown = fields.isOutcomeUnknown ?? false;
    this.code = fields.code;
    this.requestId = fields.requestId;
    this.errors = fields.errors ?? [];
    this.retryable = fields.retryable;
    this.retryAfterMs = fields.retryAfterMs;
    this.idempotencyKey = fields.idempotencyKey;
  }
}

/** 408: the request did not arrive in time. 502 and 504 are answers of proxies in front of Creditlane, which lost it or did not wait for it. */
const RETRYABLE_STATUSES = new Set([408, 429, 502, 503, 504]);

/** @param body what the answer's JSON says; undefined when the answer has no JSON */
export function errorOfAnswer(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  body: unknown,
  request: FailedRequest,
): CreditlaneError {
  const { message, code, errors } = (body ?? {}) as Partial<components['schemas']['Error']>;
  const isDescribed = typeof body === 'object' && body !== null;
  const isInProgress = status === 409 && code === IN_PROGRESS;
  const isSuccess = status >= 200 && status < 300;
  return new CreditlaneError(message ?? messageOf(status, headers), {
    ...request,
    status,
    code: code ?? (isDescribed ? `http_${status}` : UNEXPECTED_ANSWER),
    requestId: headers.get('x-request-id') ?? request.requestId,
    errors,
    isOutcomeUnknown: request.isOutcomeUnknown || status >= 500 || isSuccess || isInProgress,
    retryable: RETRYABLE_STATUSES.has(status) || isInProgress,
    retryAfterMs: retryAfterMs(headers.get('retry-after'), Date.now()),
  });
}

export function errorWithoutAnswer(
  code: NoAnswerCode,
  message: string,
  request: FailedRequest,
  cause: unknown,
): CreditlaneError {
  const fields = { ...request, code, retryable: true, isOutcomeUnknown: true };
  return new CreditlaneError(message, fields, { cause });
}

export function errorBeforeSending(
  code: UnsentCode,
  message: string,
  request: FailedRequest,
  cause: unknown,
): CreditlaneError {
  return new CreditlaneError(message, { ...request, code, retryable: true }, { cause });
}

/** A page that names itself as the next one would be read without end. */
export function errorOfRepeatedPage(requestId: string): CreditlaneError {
  const message = 'The page of a list has its own cursor as that of the next page.';
  return new CreditlaneError(message, { code: UNEXPECTED_ANSWER, requestId, retryable: false });
}

/** `status` is 0 for a redirect that the fetch of the runtime hides. */
function messageOf(status: number, headers: Headers): string {
  if (status === 0 || (status >= 300 && status < 400)) {
    const target = headers.get('location');
    return `The server redirects${target ? ` to ${target}` : ''}; baseUrl must be where it leads.`;
  }
  return status < 300 ? 'The answer is not JSON.' : `The server answered with ${status}.`;
}
