/**
 * The path of every call to a service, the same in each mount: token, access, decoding, the rules of
 * the proto, ids in lower case, handler, encoding. Every call ends with one count, one duration, one span
 * and one log entry, whatever its outcome.
 */
import { create, type Message } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import { LineSample } from '@creditlane/runtime/telemetry/line-sample';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { Call, ReadMetadata } from '../call.ts';
import {
  deadlineExceeded,
  type Fault,
  internal,
  invalid,
  toConnectError,
  toFault,
  UNAVAILABLE_MESSAGE,
  unavailable,
} from '../fault.ts';
import type { Identity, TokenVerifier } from '../identity.ts';
import { qualifiedName, type Route, type ServiceRoutes } from '../service.ts';
import { accessOptionOf, findAccessFault } from './access.ts';
import { CallDeadline } from './call-deadline.ts';
import { readBearerToken, readIdempotency, readRetryToken } from './call-metadata.ts';
import { CallReporter, type StartedCall } from './call-reporter.ts';
import { type IdFields, idFieldsOf, lowerCaseIds } from './canonical-ids.ts';
import { checkRules, warmUpRules } from './input-rules.ts';

/** What every mount needs beside the routes. */
export type ProcedureDeps = { verifier: TokenVerifier; log: Log; metrics: Metrics };

/** A call as a transport receives it, before its message. */
export type CallHead = {
  metadata: ReadMetadata;
  /** How long the caller waits for the answer; undefined when the caller sets no limit. */
  timeoutMs: number | undefined;
  /** Aborts when the caller cancels the call or its connection ends. */
  callerSignal: AbortSignal | undefined;
};

/** A call whose caller is verified and may call the method. */
export type AdmittedCall = StartedCall & {
  identity: Identity;
  metadata: ReadMetadata;
  deadline: CallDeadline;
  /** True once `answer` runs. False when the transport refuses the body, so that `answer` never runs. */
  answering: boolean;
};

/** The answer as `encode` returned it. */
export type Answer<T> = { value: T; replayed: boolean };

/** Creates one procedure for each method. Throws an Error when the rules of a proto do not compile. */
export function createProcedures(
  routes: readonly ServiceRoutes[],
  deps: ProcedureDeps,
): Procedure[] {
  const warnings = new LineSample();
  return routes.flatMap((it) => it.routes.map((route) => new Procedure(route, deps, warnings)));
}

/**
 * One method with its handler. A mount calls `admit` before it reads the body, then `answer`. Both
 * reject with a ConnectError only, and the failed call is reported by then.
 */
export class Procedure {
  readonly method: Route['method'];
  /** "/package.Service/Method", as gRPC and Connect name the method. */
  readonly path: string;
  readonly #name: string;
  readonly #handler: Route['handler'];
  readonly #access: ReturnType<typeof accessOptionOf>;
  readonly #idFields: IdFields;
  readonly #verifier: TokenVerifier;
  readonly #reporter: CallReporter;

  constructor(
    { method, handler }: Route,
    { verifier, log, metrics }: ProcedureDeps,
    warnings: LineSample,
  ) {
    this.method = method;
    this.#name = qualifiedName(method);
    this.path = `/${this.#name}`;
    this.#handler = handler;
    this.#access = accessOptionOf(method);
    this.#verifier = verifier;
    this.#reporter = new CallReporter(method, log, metrics, warnings);
    warmUpRules(method.input);
    this.#idFields = idFieldsOf(method.input);
  }

  /** Starts the call, verifies its token, and checks that the caller may call the method. */
  async admit({ metadata, timeoutMs, callerSignal }: CallHead): Promise<AdmittedCall> {
    const started = this.#reporter.start(metadata);
    try {
      const deadline = new CallDeadline(timeoutMs, callerSignal);
      const identity = await this.#verifier.verify(readBearerToken(metadata));
      started.identity = identity;
      const fault = findAccessFault(this.#access, identity);
      if (fault !== undefined) throw fault;
      return Object.assign(started, { identity, metadata, deadline, answering: false });
    } catch (error) {
      throw this.fail(started, error);
    }
  }

  /**
   * Decodes and checks the request, makes its ids lower case, runs the handler within the deadline, and
   * encodes the answer. `decode` and `encode` are the transport's. `decode` makes a new message, which is
   * changed here. `encode` runs in here, so that an answer that cannot be encoded is reported as a failed
   * call.
   */
  async answer<T>(
    admitted: AdmittedCall | undefined,
    decode: () => Message,
    encode: (message: Message) => T,
  ): Promise<Answer<T>> {
    // A mount that skipped `admit` must not answer: the caller is not verified.
    if (admitted === undefined) throw toConnectError(internal());
    admitted.answering = true;
    let replayed = false;
    const markReplayed = () => {
      replayed = true;
    };
    try {
      const request = decodeRequest(decode);
      checkRules(this.method.input, request);
      const call = this.#toCall(admitted, request, markReplayed);
      // After the digest of the request: stored answers have digests of the ids as they were sent.
      lowerCaseIds(this.#idFields, request);
      const reply = await admitted.deadline.run(
        () => this.#handler(request as never, call),
        (error) => this.#reporter.logLateFailure(admitted, admitted.deadline, error),
      );
      const value = encode(create(this.method.output, reply));
      this.#reporter.finish(admitted, undefined);
      return { value, replayed };
    } catch (error) {
      throw this.fail(admitted, error);
    }
  }

  /** Reports a failed call and returns the error to send to its caller. */
  fail(call: StartedCall, error: unknown): ConnectError {
    const fault = toCallerFault(error);
    this.#reporter.finish(call, fault);
    return toConnectError(fault);
  }

  #toCall(
    { identity, metadata, deadline, requestId, span }: AdmittedCall,
    request: Message,
    markReplayed: Call['markReplayed'],
  ): Call {
    return {
      identity,
      requestId,
      traceparent: span.traceparent,
      deadlineMs: deadline.deadlineMs,
      get signal() {
        return deadline.signal;
      },
      idempotency: readIdempotency(metadata, this.#name, identity, this.method.input, request),
      retryToken: readRetryToken(metadata),
      markReplayed,
    };
  }
}

function decodeRequest(decode: () => Message): Message {
  try {
    return decode();
  } catch (error) {
    const fault = toFault(error);
    if (fault.kind !== 'internal') throw fault;
    throw invalid('malformed_request', 'the request cannot be decoded');
  }
}

/**
 * The fault to send to the caller for an error of the handler. A fault that a peer answered to one of
 * the handler's own calls is not passed on as it is, because it is about the handler's request: a
 * temporary one becomes `unavailable` or `deadline`, any other becomes `internal`.
 */
function toCallerFault(error: unknown): Fault {
  const fault = toFault(error);
  if (!fault.fromPeer) return fault;
  switch (fault.kind) {
    case 'deadline':
      return deadlineExceeded();
    case 'unavailable':
    case 'resource_exhausted':
      return unavailable(UNAVAILABLE_MESSAGE, fault.retryAfterS, fault);
    default:
      return internal(fault);
  }
}
