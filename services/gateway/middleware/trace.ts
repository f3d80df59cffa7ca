/**
 * The trace and the id of every request, and the records of its answer: a count, a duration, a line in the
 * log, and a span.
 */
import { acceptedRequestId } from '@creditlane/rpc/request-id';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { acceptedTraceparent, traceIdOf } from '@creditlane/runtime/telemetry/traceparent';
import type { Operation } from '../document/operation.ts';
import type { RequestContext, RequestMiddleware } from '../request-state.ts';
import { isSampled, type Refusals } from './refusals.ts';

const SECURITY_HEADERS = Object.entries({
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
});

/** The statuses that count against the objectives of an operation. */
const SERVER_ERRORS = ['500', '503'];

/**
 * The first middleware. Records each request, because `answerErrors` catches every error of the middleware after it. Only an error
 * of `compressAnswers`, which runs outside of `answerErrors` and fails for want of memory, leaves its request unrecorded.
 */
export function traceRequest(
  log: Log,
  metrics: Metrics,
  refusals: Refusals,
  operations: readonly Operation[],
): RequestMiddleware {
  const record = requestRecorder(log, metrics, refusals, operations);
  return async function traceRequest(ctx, next) {
    const { req, res } = ctx;
    ctx.state = {
      startedMs: performance.now(),
      requestId: acceptedRequestId(req.headers['x-request-id']),
      traceparent: acceptedTraceparent(req.headers.traceparent),
      span: undefined,
      operation: undefined,
      callOptions: undefined,
      caller: undefined,
      errorCode: undefined,
      failure: undefined,
    };
    res.setHeader('X-Request-Id', ctx.state.requestId);
    for (const [name, value] of SECURITY_HEADERS) res.setHeader(name, value);
    await next();
    record(ctx);
  };
}

function requestRecorder(
  log: Log,
  metrics: Metrics,
  refusals: Refusals,
  operations: readonly Operation[],
): (ctx: RequestContext) => void {
  const requests = metrics.counter(
    'http_requests_total',
    'Requests answered by the gateway, by operation and status.',
    ['operation', 'status'],
  );
  const durations = metrics.histogram(
    'http_request_duration_seconds',
    'From the head of a request to its answer, by operation and its method.',
    ['operation', 'method'],
  );
  // Prometheus sees no increase in the first value of a series: the first server error of an operation would not count, nor
  // would its first slow answer.
  for (const { id, method } of operations) {
    for (const status of SERVER_ERRORS) requests.inc({ operation: id, status }, 0);
    durations.zero({ operation: id, method });
  }
  // The children of the metrics by their labels, so that each is looked up once.
  const counts = new Map<string, { inc(): void }>();
  const timers = new Map<string, { observe(seconds: number): void }>();

  return ({ req, status, state }) => {
    const { operation, span, errorCode } = state;
    const durationMs = performance.now() - state.startedMs;
    const id = operation?.id ?? 'none';
    getOrCreate(counts, `${id} ${status}`, () => requests.labels(id, String(status))).inc();
    getOrCreate(timers, id, () => durations.labels(id, operation?.method ?? 'none')).observe(
      durationMs / 1000,
    );
    span?.setAttributes({ 'http.response.status_code': status });
    span?.end(status >= 500 ? errorCode : undefined);

    const refusal = isSampled(status, operation) ? refusals.record(errorCode ?? 'none') : undefined;
    const level = levelOf(status, operation);
    if (refusal?.isLogged === false || !log.isLevelEnabled(level)) return;
    log[level](
      {
        requestId: state.requestId,
        traceId: traceIdOf(state.traceparent),
        method: req.method,
        operation: id,
        route: operation?.route,
        status,
        durationMs: Math.round(durationMs * 10) / 10,
        caller: state.caller?.id,
        code: errorCode,
        ...(refusal !== undefined && { unlogged: refusal.unlogged }),
        ...(state.failure !== undefined && { err: state.failure }),
      },
      'request answered',
    );
  };
}

function getOrCreate<T>(children: Map<string, T>, key: string, make: () => T): T {
  let child = children.get(key);
  if (child === undefined) {
    child = make();
    children.set(key, child);
  }
  return child;
}

function levelOf(
  status: number,
  operation: Operation | undefined,
): 'error' | 'warn' | 'info' | 'debug' {
  if (status === 500) return 'error';
  if (status === 503) return 'warn';
  // Requests for documentation pages, and requests of scanners.
  return operation === undefined ? 'debug' : 'info';
}
