/** Reports every call, by one count, one duration, one span and one log entry. */
import type { DescMethod } from '@bufbuild/protobuf';
import type { LineSample } from '@creditlane/runtime/telemetry/line-sample';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { acceptedTraceparent, traceIdOf } from '@creditlane/runtime/telemetry/traceparent';
import { type Span, startSpan } from '@creditlane/runtime/telemetry/tracing';
import { REQUEST_ID, type ReadMetadata, TRACEPARENT } from '../call.ts';
import type { Fault, FaultKind } from '../fault.ts';
import type { Identity } from '../identity.ts';
import { acceptedRequestId } from '../request-id.ts';
import { qualifiedName } from '../service.ts';
import type { CallDeadline } from './call-deadline.ts';
import { CallMetrics } from './call-metrics.ts';

/** A call from its arrival until `finish` has reported it. */
export type StartedCall = {
  startedMs: number;
  requestId: string;
  span: Span;
  /** Set once the token is verified. */
  identity?: Identity;
  finished: boolean;
};

/** Kinds that are failures of the service itself; their spans end as failed. */
const SERVICE_FAILURES: ReadonlySet<FaultKind> = new Set(['internal', 'unavailable', 'deadline']);

/** Reports the calls of one method. */
export class CallReporter {
  readonly #method: DescMethod;
  readonly #name: string;
  readonly #log: Log;
  readonly #metrics: CallMetrics;
  readonly #warnings: LineSample;

  /** `warnings` is shared by the methods of a server, because a client may call any of them. */
  constructor(method: DescMethod, log: Log, metrics: Metrics, warnings: LineSample) {
    this.#warnings = warnings;
    this.#method = method;
    this.#name = qualifiedName(method);
    this.#log = log.child({ rpc: this.#name });
    this.#metrics = new CallMetrics(metrics, method.parent.typeName, method.name);
  }

  start(metadata: ReadMetadata): StartedCall {
    const requestId = acceptedRequestId(metadata(REQUEST_ID));
    const span = startSpan(this.#name, {
      kind: 'server',
      parent: acceptedTraceparent(metadata(TRACEPARENT)),
      attributes: {
        'rpc.service': this.#method.parent.typeName,
        'rpc.method': this.#method.name,
        'creditlane.request.id': requestId,
      },
    });
    return { startedMs: performance.now(), requestId, span, finished: false };
  }

  /** Reports the outcome of a call. A second report of the same call is ignored. */
  finish(call: StartedCall, fault: Fault | undefined): void {
    if (call.finished) return;
    call.finished = true;
    const durationMs = performance.now() - call.startedMs;
    const code = fault?.kind ?? 'ok';
    this.#metrics.record(code, durationMs);
    call.span.end(fault !== undefined && SERVICE_FAILURES.has(fault.kind) ? code : undefined);

    const level = logLevelOf(fault, call.identity !== undefined);
    if (!this.#log.isLevelEnabled(level)) return;
    // Anyone who reaches the port can cause warnings, by calls without a token.
    const sample = level === 'warn' ? this.#warnings.take(fault?.code ?? code) : undefined;
    if (sample?.isLogged === false) return;
    this.#log[level](
      {
        requestId: call.requestId,
        traceId: traceIdOf(call.span.traceparent),
        caller: call.identity?.subject,
        code,
        fault: fault?.code,
        durationMs: Math.round(durationMs * 10) / 10,
        ...(sample !== undefined && sample.unlogged > 0 && { unlogged: sample.unlogged }),
        ...(fault?.cause !== undefined && { err: fault.cause }),
      },
      fault === undefined ? 'call answered' : `call failed: ${fault.message}`,
    );
  }

  /** Logs that a handler failed after the deadline or the cancellation, which was the call's outcome. */
  logLateFailure({ requestId, span }: StartedCall, deadline: CallDeadline, error: unknown): void {
    // A handler that honours the signal rejects with its reason, which is no failure.
    if (error === deadline.signal.reason) return;
    const traceId = traceIdOf(span.traceparent);
    this.#log.debug({ requestId, traceId, err: error }, 'the handler failed after its call ended');
  }
}

/** An operator must act on `error`, may have to on `warn`; `debug` is a request that was refused. */
function logLevelOf(fault: Fault | undefined, isTokenValid: boolean): 'error' | 'warn' | 'debug' {
  switch (fault?.kind) {
    case 'internal':
      return 'error';
    case 'unauthenticated':
      // A method that authenticates others, such as a key's holder, refuses as many as clients send.
      return isTokenValid ? 'debug' : 'warn';
    case 'forbidden':
    case 'unavailable':
      return 'warn';
    default:
      return 'debug';
  }
}
