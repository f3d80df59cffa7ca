/** What is kept of each request: one count, one duration, one line in the log, one span. */
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { traceIdOf } from '@creditlane/runtime/telemetry/traceparent';
import type { Span } from '@creditlane/runtime/telemetry/tracing';
import type { Caller } from './callers.ts';
import type { Operation } from './operation.ts';

/** A request while it is being served; what is known of it grows on the way. */
export interface Exchange {
  readonly startedMs: number;
  readonly method: string;
  readonly requestId: string;
  /** The trace that the work for it belongs to: the caller's, or one that began here. */
  traceparent: string | undefined;
  /** Of an operation, from its beginning on. */
  span: Span | undefined;
  operation: Operation | undefined;
  caller: Caller | undefined;
  /** Of the error it was answered with. */
  code: string | undefined;
  /** What failed, where that was our fault. */
  cause: unknown;
}

export class RequestRecord {
  readonly #log: Log;
  readonly #requests;
  readonly #durations;
  /** The instruments' children, found once for each pair of labels. */
  readonly #counts = new Map<string, { inc(): void }>();
  readonly #timers = new Map<string, { observe(seconds: number): void }>();

  constructor(log: Log, metrics: Metrics) {
    this.#log = log;
    this.#requests = metrics.counter(
      'http_requests_total',
      'Requests answered by the gateway, by operation and status.',
      ['operation', 'status'],
    );
    this.#durations = metrics.histogram(
      'http_request_duration_seconds',
      'From the head of a request to its answer.',
      ['operation'],
    );
  }

  /** `status` is the one answered with. */
  keep(exchange: Exchange, status: number): void {
    const { operation, caller, requestId, traceparent, method, code, cause } = exchange;
    const durationMs = performance.now() - exchange.startedMs;
    const name = operation?.id ?? 'none';
    this.#count(name, status).inc();
    this.#timer(name).observe(durationMs / 1000);
    exchange.span?.setAttributes({ 'http.response.status_code': status });
    exchange.span?.end(status >= 500 ? code : undefined);

    const level = levelOf(status, operation);
    if (!this.#log.isLevelEnabled(level)) return;
    this.#log[level](
      {
        requestId,
        traceId: traceIdOf(traceparent),
        method,
        operation: name,
        route: operation?.route,
        status,
        durationMs: Math.round(durationMs * 10) / 10,
        caller: caller?.id,
        code,
        ...(cause !== undefined && { err: cause }),
      },
      'request answered',
    );
  }

  #count(operation: string, status: number) {
    const key = `${operation} ${status}`;
    let count = this.#counts.get(key);
    if (count === undefined) {
      count = this.#requests.labels(operation, String(status));
      this.#counts.set(key, count);
    }
    return count;
  }

  #timer(operation: string) {
    let timer = this.#timers.get(operation);
    if (timer === undefined) {
      timer = this.#durations.labels(operation);
      this.#timers.set(operation, timer);
    }
    return timer;
  }
}

function levelOf(
  status: number,
  operation: Operation | undefined,
): 'error' | 'warn' | 'info' | 'debug' {
  if (status === 500) return 'error';
  if (status === 503) return 'warn';
  // Documentation pages, scanners and the like.
  return operation === undefined ? 'debug' : 'info';
}
