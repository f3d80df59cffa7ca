/** Faults: the typed errors of calls, as a closed set of kinds, and their form between services. */

import { Code, ConnectError } from '@connectrpc/connect';
import { FaultInfoSchema } from '@creditlane/proto/common/v1/fault';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';

export type FaultKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'resource_exhausted'
  | 'unavailable'
  | 'deadline'
  | 'cancelled'
  | 'unimplemented'
  | 'internal';

/**
 * A field that is not valid: `pointer` is a JSON Pointer (RFC 6901) such as "/interestRate", and `message` what
 * follows it in a sentence, such as "must be a number".
 */
export type FieldFault = { pointer: string; message: string };

/** A name as a step of a JSON Pointer. */
export function pointerStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Limits the size of the answer to a request with hundreds of wrong fields. */
const MAX_NAMED_FIELDS = 20;

export const UNAVAILABLE_MESSAGE = 'a required service is unavailable';

/** The messages of faults that say no more than their kind. */
const MESSAGE_OF: Record<FaultKind, string> = {
  invalid: 'the request is not valid',
  unauthenticated: 'the identity of the caller is not proven',
  forbidden: 'the caller may not make this call',
  not_found: 'the record does not exist',
  conflict: 'the present state of the record forbids the call',
  resource_exhausted: 'a limit is exceeded',
  unavailable: UNAVAILABLE_MESSAGE,
  deadline: 'the deadline passed before the answer arrived',
  cancelled: 'the caller cancelled the call',
  unimplemented: 'the service does not have the method',
  internal: 'internal error',
};

type FaultDetails = {
  fields?: FieldFault[] | undefined;
  retryAfterS?: number | undefined;
  fromPeer?: boolean | undefined;
  cause?: unknown;
};

/** An error whose code and message may be shown to the caller. */
export class Fault extends LoggableError {
  readonly kind: FaultKind;
  /** A stable name that programs can compare, such as "submission_not_found". */
  readonly code: string;
  readonly fields: readonly FieldFault[];
  /** Seconds after which a retry may succeed; 0 when a retry cannot help. */
  readonly retryAfterS: number;
  /** True when a peer answered this fault to a call of ours. A procedure never passes it on as it is. */
  readonly fromPeer: boolean;

  constructor(kind: FaultKind, code: string, message: string, details: FaultDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.code = code;
    this.fields = details.fields ?? [];
    this.retryAfterS = details.retryAfterS ?? 0;
    this.fromPeer = details.fromPeer ?? false;
  }
}

/** The request is not valid; `fields` lists the fields that are wrong. */
export function invalid(code: string, message: string, fields: FieldFault[] = []): Fault {
  return new Fault('invalid', code, message, { fields });
}

/**
 * The request is not valid because of these fields. The message names each by its pointer: "/term must be at
 * least 1". Fields and message name as many as a fault may, and the message the number of the others.
 *
 * @param fields with `in` where the pointer is the name of a parameter: path, query or header
 */
export function invalidFields(
  code: string,
  fields: readonly (FieldFault & { in?: string })[],
): Fault {
  const named = fields.slice(0, MAX_NAMED_FIELDS);
  const sentences = named.map((field) => {
    const place = field.in === undefined ? field.pointer : `${field.pointer} in the ${field.in}`;
    return `${place || 'the body'} ${field.message}`;
  });
  const others = fields.length - named.length;
  if (others > 0) sentences.push(`and ${others} more field${others === 1 ? '' : 's'}`);
  return invalid(code, sentences.join('; '), named);
}

/** What one field names is missing or in conflict. The message names the field by its pointer, as that of `invalidFields`. */
export function fieldFault(kind: 'not_found' | 'conflict', code: string, field: FieldFault): Fault {
  return new Fault(kind, code, `${field.pointer} ${field.message}`, { fields: [field] });
}

/** The caller's identity is not proven. */
export function unauthenticated(code: string, message: string, cause?: unknown): Fault {
  return new Fault('unauthenticated', code, message, { cause });
}

/** The caller is authenticated and may not make this call. */
export function forbidden(code: string, message: string): Fault {
  return new Fault('forbidden', code, message);
}

/** The record does not exist, or the caller may not learn that it exists. */
export function notFound(code: string, message: string): Fault {
  return new Fault('not_found', code, message);
}

/** The request is valid and the present state of the record forbids it. */
export function conflict(code: string, message: string): Fault {
  return new Fault('conflict', code, message);
}

/** A limit is exceeded; a retry may succeed after `retryAfterS` seconds, or never when that is 0. */
export function resourceExhausted(code: string, message: string, retryAfterS = 0): Fault {
  return new Fault('resource_exhausted', code, message, { retryAfterS });
}

/** A dependency is unavailable; a retry may succeed after `retryAfterS` seconds. */
export function unavailable(message: string, retryAfterS = 1, cause?: unknown): Fault {
  return new Fault('unavailable', 'unavailable', message, { retryAfterS, cause });
}

/** The deadline passed before the answer arrived. */
export function deadlineExceeded(): Fault {
  return new Fault('deadline', 'deadline_exceeded', MESSAGE_OF.deadline);
}

/** The caller cancelled the call. */
export function cancelled(): Fault {
  return new Fault('cancelled', 'cancelled', MESSAGE_OF.cancelled);
}

/** A failure of the service itself. `cause` is logged and never shown to the caller. */
export function internal(cause?: unknown): Fault {
  return new Fault('internal', 'internal_error', MESSAGE_OF.internal, { cause });
}

const CODE_OF: Record<FaultKind, Code> = {
  invalid: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  forbidden: Code.PermissionDenied,
  not_found: Code.NotFound,
  conflict: Code.FailedPrecondition,
  resource_exhausted: Code.ResourceExhausted,
  unavailable: Code.Unavailable,
  deadline: Code.DeadlineExceeded,
  cancelled: Code.Canceled,
  unimplemented: Code.Unimplemented,
  internal: Code.Internal,
};

/** The kind of each code: the inverse of `CODE_OF`, and codes that only transports use. */
const KIND_OF: ReadonlyMap<Code, FaultKind> = new Map<Code, FaultKind>([
  ...Object.entries(CODE_OF).map(([kind, code]) => [code, kind as FaultKind] as const),
  [Code.AlreadyExists, 'conflict'],
  [Code.OutOfRange, 'invalid'],
  // connect-node, with which the tests call by HTTP, reports a connection that broke during a call as Aborted.
  [Code.Aborted, 'unavailable'],
]);

/** The form of a fault between services: the code of its kind, and a FaultInfo with the rest. */
export function toConnectError(fault: Fault): ConnectError {
  const { code, fields, retryAfterS } = fault;
  const value = { code, fields: [...fields], retryAfterS };
  return new ConnectError(fault.message, CODE_OF[fault.kind], undefined, [
    { desc: FaultInfoSchema, value },
  ]);
}

/**
 * The fault of any error. A Fault is returned as it is; a ConnectError becomes the Fault that the
 * service sent; every other error becomes an `internal` Fault with the error as its cause.
 */
export function toFault(error: unknown, fromPeer = false): Fault {
  if (error instanceof Fault) return error;
  if (!(error instanceof ConnectError)) return internal(error);
  const kind = KIND_OF.get(error.code) ?? 'internal';
  const [info] = error.findDetails(FaultInfoSchema);
  if (info === undefined) return transportFault(kind, error, fromPeer);
  return new Fault(kind, info.code || kind, error.rawMessage, {
    fields: info.fields.map(({ pointer, message }) => ({ pointer, message })),
    retryAfterS: info.retryAfterS,
    fromPeer,
    cause: error.cause,
  });
}

/**
 * The fault of an error that a transport made. Its text names internal addresses, so it becomes the
 * cause, which is logged, and callers get a fixed message.
 */
function transportFault(kind: FaultKind, error: ConnectError, fromPeer: boolean): Fault {
  const cause = error.cause ?? new TransportError(error.rawMessage);
  const retryAfterS = kind === 'unavailable' ? 1 : 0;
  return new Fault(kind, kind, MESSAGE_OF[kind], { retryAfterS, fromPeer, cause });
}

class TransportError extends LoggableError {}
