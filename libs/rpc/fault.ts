/** The refusals a call can meet, as one closed set of kinds, and the form in which they cross the wire. */
import { Code, ConnectError } from '@connectrpc/connect';
import { FaultInfoSchema } from '@creditlane/proto/common/v1/fault';

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

/** A refused field; `pointer` is a JSON Pointer (RFC 6901) into the request, such as "/interestRate". */
export type FieldFault = { pointer: string; message: string };

const LATE = 'the deadline passed before the answer came';
const AWAY = 'a service needed for this is away';

type FaultDetails = {
  fields?: FieldFault[] | undefined;
  retryAfterS?: number | undefined;
  fromPeer?: boolean | undefined;
  cause?: unknown;
};

/** A refusal whose code and message are safe to show to the caller. */
export class Fault extends Error {
  readonly kind: FaultKind;
  /** A stable word a program can act on, such as "submission_not_found". */
  readonly code: string;
  readonly fields: readonly FieldFault[];
  /** Seconds after which the call may succeed; 0 when waiting does not help. */
  readonly retryAfterS: number;
  /** True when another service refused a call of ours; such a fault is never relayed unseen. */
  readonly fromPeer: boolean;

  constructor(kind: FaultKind, code: string, message: string, details: FaultDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'Fault';
    this.kind = kind;
    this.code = code;
    this.fields = details.fields ?? [];
    this.retryAfterS = details.retryAfterS ?? 0;
    this.fromPeer = details.fromPeer ?? false;
  }
}

/** The request is wrong in itself; `fields` says where. */
export function invalid(code: string, message: string, fields: FieldFault[] = []): Fault {
  return new Fault('invalid', code, message, { fields });
}

/** The caller did not prove who it is. */
export function unauthenticated(code: string, message: string, cause?: unknown): Fault {
  return new Fault('unauthenticated', code, message, { cause });
}

/** The caller is known and may not do this. */
export function forbidden(code: string, message: string): Fault {
  return new Fault('forbidden', code, message);
}

/** There is no such thing, or none the caller may know of. */
export function notFound(code: string, message: string): Fault {
  return new Fault('not_found', code, message);
}

/** The request is right and the thing's present state forbids it. */
export function conflict(code: string, message: string): Fault {
  return new Fault('conflict', code, message);
}

/** A limit was met; it may pass after `retryAfterS` seconds, or never when that is 0. */
export function resourceExhausted(code: string, message: string, retryAfterS = 0): Fault {
  return new Fault('resource_exhausted', code, message, { retryAfterS });
}

/** Something needed is away for now; worth another try after `retryAfterS` seconds. */
export function unavailable(message: string, retryAfterS = 1, cause?: unknown): Fault {
  return new Fault('unavailable', 'unavailable', message, { retryAfterS, cause });
}

/** The call's time was over before its answer came. */
export function deadlineExceeded(): Fault {
  return new Fault('deadline', 'deadline_exceeded', LATE);
}

/** The caller gave the call up. */
export function cancelled(): Fault {
  return new Fault('cancelled', 'cancelled', 'the caller gave the call up');
}

/** A failure of ours; the caller learns nothing of `cause`. */
export function internal(cause?: unknown): Fault {
  return new Fault('internal', 'internal_error', 'internal error', { cause });
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

/** Each kind comes back from its own code; the other codes are only ever made by a transport. */
const KIND_OF: ReadonlyMap<Code, FaultKind> = new Map<Code, FaultKind>([
  ...Object.entries(CODE_OF).map(([kind, code]) => [code, kind as FaultKind] as const),
  [Code.AlreadyExists, 'conflict'],
  [Code.OutOfRange, 'invalid'],
  // connect-node's code for a connection that broke under a call.
  [Code.Aborted, 'unavailable'],
]);

/** What the wire carries for a fault: a code by its kind, and a FaultInfo with the rest. */
export function toConnectError(fault: Fault): ConnectError {
  const { code, fields, retryAfterS } = fault;
  const value = { code, fields: [...fields], retryAfterS };
  return new ConnectError(fault.message, CODE_OF[fault.kind], undefined, [
    { desc: FaultInfoSchema, value },
  ]);
}

/**
 * The fault that a failed call means to its caller. A Fault is given back as it is; an error from
 * the wire becomes the Fault that was sent; anything else is internal, kept as the cause.
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

/** Made on the way, in words that name our addresses: they are for the log and for no caller. */
function transportFault(kind: FaultKind, error: ConnectError, fromPeer: boolean): Fault {
  const cause = error.cause ?? new TransportError(error.rawMessage);
  if (kind === 'deadline') return new Fault(kind, kind, LATE, { fromPeer, cause });
  if (kind !== 'unavailable') return new Fault(kind, kind, error.rawMessage, { fromPeer, cause });
  // It names no time; soon is right.
  return new Fault(kind, kind, AWAY, { retryAfterS: 1, fromPeer, cause });
}

class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly loggable = true;
}
