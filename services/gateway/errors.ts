/** The answer to a request that failed: the one place that maps faults to HTTP statuses. */

import { STATUS_CODES } from 'node:http';
import { type Fault, type FaultKind, internal, toFault } from '@creditlane/rpc/fault';
import type { Operation } from './document/operation.ts';
import { JSON_UTF8_TYPE, PROBLEM_TYPE } from './http/media-types.ts';

/** The body of an error in plain JSON. */
export interface PlainError {
  status: number;
  message: string;
}

/** An error as it goes over the wire. */
export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** The stable code of the error in `body`, for the log. */
  code: string;
}

const STATUS_OF_KIND: Record<FaultKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  resource_exhausted: 429,
  unavailable: 503,
  deadline: 503,
  // The client has hung up and gets no answer; the status identifies such requests in logs and metrics.
  cancelled: 499,
  unimplemented: 500,
  internal: 500,
};

/**
 * Refusals of a service that the client did not cause: the service reached its own limit, or reports the
 * call as cancelled while the client is still connected. Whether the request took effect is unknown; the
 * client may repeat it.
 */
const OF_SERVICES_ALONE: ReadonlySet<FaultKind> = new Set(['resource_exhausted', 'cancelled']);

/** Refusals of a service that the gateway caused, by its token or by a method that the service lacks. */
const OF_THE_GATEWAY: ReadonlySet<FaultKind> = new Set(['unauthenticated', 'unimplemented']);

/** Faults for which HTTP has a more exact status. */
const STATUS_OF_CODE: Record<string, number> = {
  route_not_found: 404,
  method_not_allowed: 405,
  body_too_large: 413,
  not_json: 415,
  // The holder of a link to a document has caused these refusals of the credit-file service.
  rate_limited: 429,
  too_many_under_way: 429,
  idempotency_key_reused: 422,
  unprocessable_value: 422,
  transfer_coding_unknown: 501,
};

const UNEXPECTED = 'something failed on our side; please report the requestId';

/** The fault to show to the client: `internal` where a service refused the gateway instead of the client. */
export function clientFault(error: unknown): Fault {
  const fault = toFault(error);
  const isOurs =
    fault.fromPeer && (OF_THE_GATEWAY.has(fault.kind) || fault.code === 'caller_not_allowed');
  return isOurs ? internal(fault) : fault;
}

/**
 * The answer to a request that failed with `fault`. A refusal with a status that the operation does
 * not list in the OpenAPI document is a 400, which every operation lists; that is how one fault,
 * such as an unknown application, is 404 on some operations and 400 on others. `asProblem` asks for
 * problem details (RFC 9457).
 */
export function errorAnswer(
  fault: Fault,
  request: { operation: Operation | undefined; requestId: string; asProblem: boolean },
): ErrorAnswer {
  const status = statusOf(fault, request.operation);
  const code = status === 500 ? 'internal_error' : fault.code;
  const message = status === 500 ? UNEXPECTED : fault.message;
  const more = {
    code,
    requestId: request.requestId,
    ...(fault.fields.length > 0 && status !== 500 && { errors: fault.fields }),
  };
  const closed = request.operation?.closedErrors.get(status);
  const isProblem = closed === undefined && request.asProblem;
  const body = isProblem
    ? problemOf({ status, message, ...more })
    : pick(closed, { status, message, ...more });
  return {
    status,
    headers: {
      'Content-Type': isProblem ? PROBLEM_TYPE : JSON_UTF8_TYPE,
      ...headersFor(status, fault),
    },
    body: JSON.stringify(body),
    code,
  };
}

function statusOf(fault: Fault, operation: Operation | undefined): number {
  const ofKind = fault.fromPeer && OF_SERVICES_ALONE.has(fault.kind) ? 503 : undefined;
  const status = STATUS_OF_CODE[fault.code] ?? ofKind ?? STATUS_OF_KIND[fault.kind];
  const isClientError = status >= 400 && status < 499;
  return isClientError && operation !== undefined && !operation.statuses.has(status) ? 400 : status;
}

/** An error in plain JSON as problem details (RFC 9457). */
export function problemOf({ status, message, ...more }: PlainError): object {
  return { type: 'about:blank', title: STATUS_CODES[status], status, detail: message, ...more };
}

function headersFor(status: number, fault: Fault): Record<string, string> {
  switch (status) {
    case 401: {
      const missing = fault.code === 'key_missing';
      const challenge = 'Bearer realm="creditlane"';
      return { 'WWW-Authenticate': missing ? challenge : `${challenge}, error="invalid_token"` };
    }
    case 429:
    case 503:
      return { 'Retry-After': String(Math.max(1, Math.ceil(fault.retryAfterS))) };
    default:
      return {};
  }
}

function pick(names: readonly string[] | undefined, body: object): object {
  if (names === undefined) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));
}
