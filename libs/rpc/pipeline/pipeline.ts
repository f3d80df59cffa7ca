/**
 * The way of every call, the same on each mount: token, access, decoding, the proto's rules, the
 * handler; and for each outcome one count, one time, one span and one line in the log.
 */
import { createHash } from 'node:crypto';
import { create, type Message, toBinary } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import { isUuid } from '@creditlane/runtime/ids';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { acceptedTraceparent, traceIdOf } from '@creditlane/runtime/telemetry/traceparent';
import { type Span, startSpan } from '@creditlane/runtime/telemetry/tracing';
import {
  AUTHORIZATION,
  type Call,
  type CallIdempotency,
  IDEMPOTENCY_KEY,
  type Metadata,
  REQUEST_ID,
  RETRY_TOKEN,
  TRACEPARENT,
} from '../call.ts';
import {
  deadlineExceeded,
  type Fault,
  type FaultKind,
  internal,
  invalid,
  toConnectError,
  toFault,
  unauthenticated,
  unavailable,
} from '../fault.ts';
import type { Identity, TokenVerifier } from '../identity.ts';
import { acceptedRequestId } from '../request-id.ts';
import type { Route, ServiceRoutes } from '../service.ts';
import { accessOptionOf, findAccessFault } from './access.ts';
import { CallDeadline } from './call-deadline.ts';
import { CallMetrics } from './call-metrics.ts';
import { checkRules, warmUpRules } from './input-rules.ts';

/** What every mount needs beside the routes. */
export type ProcedureDeps = { verifier: TokenVerifier; log: Log; metrics: Metrics };

/** What a transport knows of a call before its message. */
export type CallHead = {
  metadata: Metadata;
  /** What the caller gives the call; absent when it does not say. */
  timeoutMs: number | undefined;
  /** Aborts when the caller gives up. */
  givenUp: AbortSignal | undefined;
};

/** A call whose caller is known and may make it. */
export type AdmittedCall = Attempt & {
  identity: Identity;
  metadata: Metadata;
  time: CallDeadline;
  /** Set once the body has come. */
  answering: boolean;
};

type Attempt = {
  startedMs: number;
  requestId: string;
  span: Span;
  identity?: Identity;
  settled: boolean;
};

/** The answer as `write` made it. */
export type Answer<T> = { value: T; replayed: boolean };

const OUR_FAULTS: ReadonlySet<FaultKind> = new Set(['internal', 'unavailable', 'deadline']);
const IDEMPOTENCY_KEY_MAX_LENGTH = 255;
const BEARER = 'Bearer ';

/** One procedure per method, with its rules compiled. Throws when a proto's rules cannot be. */
export function proceduresOf(routes: readonly ServiceRoutes[], around: ProcedureDeps): Procedure[] {
  return routes.flatMap((it) => it.routes.map((route) => new Procedure(route, around)));
}

/** One method as it is served. Everything it throws is a ConnectError, already counted. */
export class Procedure {
  readonly method: Route['method'];
  /** "/package.Service/Method", as gRPC and Connect name it. */
  readonly path: string;
  readonly #name: string;
  readonly #handler: Route['handler'];
  readonly #access: ReturnType<typeof accessOptionOf>;
  readonly #verifier: TokenVerifier;
  readonly #log: Log;
  readonly #meter: CallMetrics;

  constructor({ method, handler }: Route, { verifier, log, metrics }: ProcedureDeps) {
    this.method = method;
    this.#name = `${method.parent.typeName}/${method.name}`;
    this.path = `/${this.#name}`;
    this.#handler = handler;
    this.#access = accessOptionOf(method);
    this.#verifier = verifier;
    this.#log = log.child({ rpc: this.#name });
    this.#meter = new CallMetrics(metrics, method.parent.typeName, method.name);
    warmUpRules(method.input);
  }

  /** The part before the body: who calls, and whether it may. */
  async admit({ metadata, timeoutMs, givenUp }: CallHead): Promise<AdmittedCall> {
    const attempt = this.#begin(metadata);
    try {
      const time = new CallDeadline(timeoutMs, givenUp);
      const identity = await this.#verifier.verify(bearerToken(metadata));
      attempt.identity = identity;
      const refusal = findAccessFault(this.#access, identity);
      if (refusal !== undefined) throw refusal;
      return Object.assign(attempt, { identity, metadata, time, answering: false });
    } catch (error) {
      throw this.refuse(attempt, error);
    }
  }

  /**
   * The part from the body on, within the call's time. `read` decodes the request; `write` encodes
   * the answer, here so that an answer that cannot be is a failure like any other.
   */
  async answer<T>(
    admitted: AdmittedCall | undefined,
    read: () => Message,
    write: (message: Message) => T,
  ): Promise<Answer<T>> {
    // A mount that let a call past `admit` answers nobody.
    if (admitted === undefined) throw toConnectError(internal());
    admitted.answering = true;
    let replayed = false;
    const markReplayed = () => {
      replayed = true;
    };
    try {
      const request = decoded(read);
      checkRules(this.method.input, request);
      const call = this.#callOf(admitted, request, markReplayed);
      const reply = await admitted.time.run(
        () => this.#handler(request as never, call),
        (error) => this.#abandoned(admitted, error),
      );
      const value = write(create(this.method.output, reply));
      this.#settle(admitted, undefined);
      return { value, replayed };
    } catch (error) {
      throw this.refuse(admitted, error);
    }
  }

  /** Counts and logs a call that failed, and gives the error its caller is to see. */
  refuse(attempt: Attempt, error: unknown): ConnectError {
    const fault = ownFault(error);
    this.#settle(attempt, fault);
    return toConnectError(fault);
  }

  #begin(metadata: Metadata): Attempt {
    const requestId = acceptedRequestId(metadata(REQUEST_ID));
    const span = startSpan(this.#name, {
      kind: 'server',
      parent: acceptedTraceparent(metadata(TRACEPARENT)),
      attributes: {
        'rpc.service': this.method.parent.typeName,
        'rpc.method': this.method.name,
        'creditlane.request.id': requestId,
      },
    });
    return { startedMs: performance.now(), requestId, span, settled: false };
  }

  #callOf(
    { identity, metadata, time, requestId, span }: AdmittedCall,
    request: Message,
    markReplayed: Call['markReplayed'],
  ): Call {
    return {
      identity,
      requestId,
      traceparent: span.traceparent,
      deadlineMs: time.deadlineMs,
      get signal() {
        return time.signal;
      },
      idempotency: this.#idempotencyOf(metadata, identity, request),
      retryToken: callIdFrom(metadata),
      markReplayed,
    };
  }

  #idempotencyOf(
    metadata: Metadata,
    { subject }: Identity,
    request: Message,
  ): CallIdempotency | undefined {
    const key = metadata(IDEMPOTENCY_KEY);
    if (!key) return undefined;
    if (key.length > IDEMPOTENCY_KEY_MAX_LENGTH) {
      throw invalid('idempotency_key_too_long', 'the idempotency key has more than 255 characters');
    }
    const requestDigest = createHash('sha256')
      .update(toBinary(this.method.input, request))
      .digest();
    return { callerId: subject, operation: this.#name, key, requestDigest };
  }

  #settle(attempt: Attempt, fault: Fault | undefined): void {
    if (attempt.settled) return;
    attempt.settled = true;
    const durationMs = performance.now() - attempt.startedMs;
    const code = fault?.kind ?? 'ok';
    this.#meter.record(code, durationMs);
    attempt.span.end(isOurs(fault) ? code : undefined);

    const level = levelOf(fault);
    if (!this.#log.isLevelEnabled(level)) return;
    this.#log[level](
      {
        requestId: attempt.requestId,
        traceId: traceIdOf(attempt.span.traceparent),
        caller: attempt.identity?.subject,
        code,
        fault: fault?.code,
        durationMs: Math.round(durationMs * 10) / 10,
        ...(fault?.cause !== undefined && { err: fault.cause }),
      },
      fault === undefined ? 'call answered' : `call refused: ${fault.message}`,
    );
  }

  /** The caller has its refusal already; that the work then failed must not go unseen. */
  #abandoned({ requestId, span, time }: AdmittedCall, error: unknown): void {
    if (error === time.signal.reason) return;
    const traceId = traceIdOf(span.traceparent);
    this.#log.debug({ requestId, traceId, err: error }, 'work failed after its call had ended');
  }
}

/**
 * The refusal to send for an error of the handler. A peer's refusal of our own call says nothing
 * about our caller's: what was ours to avoid is internal, what is passing trouble is passed on.
 */
function ownFault(error: unknown): Fault {
  const fault = toFault(error);
  if (!fault.fromPeer) return fault;
  switch (fault.kind) {
    case 'deadline':
      return deadlineExceeded();
    case 'unavailable':
    case 'resource_exhausted':
      return unavailable('a service needed for this is away', fault.retryAfterS, fault);
    default:
      return internal(fault);
  }
}

function decoded(read: () => Message): Message {
  try {
    return read();
  } catch (error) {
    const fault = toFault(error);
    if (fault.kind !== 'internal') throw fault;
    throw invalid('malformed_request', 'the request cannot be decoded');
  }
}

function bearerToken(metadata: Metadata): string {
  const authorization = metadata(AUTHORIZATION);
  if (!authorization?.startsWith(BEARER)) {
    throw unauthenticated('token_missing', 'the call carries no identity token');
  }
  return authorization.slice(BEARER.length);
}

function callIdFrom(metadata: Metadata): string | undefined {
  const given = metadata(RETRY_TOKEN);
  return given && isUuid(given) ? given : undefined;
}

/** Whether the service failed its caller, rather than refused it. */
function isOurs(fault: Fault | undefined): boolean {
  return fault !== undefined && OUR_FAULTS.has(fault.kind);
}

/** Faults of ours wake somebody, faults at the door are worth a look, the rest is daily business. */
function levelOf(fault: Fault | undefined): 'error' | 'warn' | 'debug' {
  switch (fault?.kind) {
    case 'internal':
      return 'error';
    case 'unauthenticated':
    case 'forbidden':
    case 'unavailable':
      return 'warn';
    default:
      return 'debug';
  }
}
