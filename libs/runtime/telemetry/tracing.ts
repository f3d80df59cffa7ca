/**
 * Traces: spans that follow one request through all services, exported by OTLP.
 *
 * A process has one tracer. Until `startTracing` runs, nothing is recorded, loaded or connected, and a
 * span passes its parent's `traceparent` on unchanged.
 */
import {
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Closers } from '../closers.ts';
import { refuse } from '../env.ts';
import { type Setting, setting } from '../setting.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { pickAllowedAttributes, type SpanAttributes } from './span-attributes.ts';
import { formatTraceparent, parseTraceparent } from './traceparent.ts';

/** A unit of work in a trace. */
export interface Span {
  /** The `traceparent` for work that this work causes; undefined without a trace. */
  readonly traceparent: string | undefined;
  setAttributes(attributes: SpanAttributes): void;
  /** `failure` is a stable name of the error. A second call has no effect. */
  end(failure?: string): void;
}

export interface SpanOptions {
  kind: 'server' | 'client' | 'producer' | 'consumer';
  /** The `traceparent` of the work that caused this work. */
  parent: string | null | undefined;
  /** Whether work without a parent starts a trace; by default it is not recorded. */
  startsTrace?: boolean;
  attributes?: SpanAttributes;
}

export interface TracingConfig {
  /** The URL of the OTLP receiver, over HTTP; empty when nothing is to be recorded. */
  endpoint: string;
  /** The share of the traces begun here to record, from 0 to 1. A caller's trace follows the caller's flag. */
  sampleRatio: number;
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};
/** The number of spans that may wait to be exported. Further spans are dropped. */
const MAX_WAITING = 8_192;
const SEND_EVERY_MS = 1_000;
/** The longest time by which an unreachable receiver delays the shutdown of a process. */
const SEND_TIMEOUT_MS = 2_000;

/** The code of a successful export in the OpenTelemetry SDK. */
const SUCCESS = 0;

let tracer: Tracer | undefined;

/** The settings of traces, by the names that OpenTelemetry gives them. */
export const TRACING: Setting<TracingConfig> = setting.all({
  endpoint: setting.url('OTEL_EXPORTER_OTLP_ENDPOINT', {
    default: '',
    about: 'The URL of the OTLP receiver of traces, over HTTP; without it nothing is recorded.',
  }),
  sampleRatio: setting.parsed('OTEL_TRACES_SAMPLER_ARG', parseShare, {
    type: 'number from 0 to 1',
    default: '1',
    about:
      "The share of traces to record; a caller's own trace is recorded if the caller records it.",
  }),
});

/**
 * Starts to record spans and to export them every second, and once more when the process closes. Spans
 * are lost while the receiver is unreachable; nothing else is affected. Does nothing without an endpoint.
 */
export async function startTracing(
  { endpoint, sampleRatio }: TracingConfig,
  service: string,
  { log, metrics, closers }: { log: Log; metrics: Metrics; closers: Closers },
): Promise<void> {
  if (endpoint === '') return;
  const [sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: SEND_TIMEOUT_MS });
  const processor = new sdk.BatchSpanProcessor({
    exporter: counted(exporter, metrics),
    maxQueueSize: MAX_WAITING,
    scheduledDelayMillis: SEND_EVERY_MS,
    exportTimeoutMillis: SEND_TIMEOUT_MS,
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [processor],
  });
  tracer = provider.getTracer('creditlane');
  closers.add('tracing', async () => {
    tracer = undefined;
    await provider.shutdown().catch(() => log.warn('the last spans could not be exported'));
  });
}

/** Starts a span. Its name must come from a closed set, such as route templates. */
export function startSpan(
  name: string,
  { kind, parent, startsTrace, attributes }: SpanOptions,
): Span {
  const cause = tracer && parseTraceparent(parent);
  if (tracer === undefined || (cause === undefined && !startsTrace)) {
    return new UnrecordedSpan(parent ?? undefined);
  }
  const context =
    cause === undefined
      ? ROOT_CONTEXT
      : trace.setSpanContext(ROOT_CONTEXT, { ...cause, traceFlags: cause.flags, isRemote: true });
  return new RecordedSpan(
    tracer.startSpan(
      name,
      { kind: KINDS[kind], attributes: pickAllowedAttributes(attributes) },
      context,
    ),
  );
}

/** Returns the outcome of `work`, and ends all its spans with that outcome. */
export async function endSpansAfter<T>(spans: Iterable<Span>, work: Promise<T>): Promise<T> {
  let failure: string | undefined;
  try {
    return await work;
  } catch (error) {
    failure = error instanceof Error ? error.name : 'error';
    throw error;
  } finally {
    for (const span of spans) span.end(failure);
  }
}

class RecordedSpan implements Span {
  readonly traceparent: string;
  readonly #span: OtelSpan;

  constructor(span: OtelSpan) {
    this.#span = span;
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.traceparent = formatTraceparent({ traceId, spanId, flags: traceFlags });
  }

  setAttributes(attributes: SpanAttributes): void {
    this.#span.setAttributes(pickAllowedAttributes(attributes));
  }

  end(failure?: string): void {
    if (!this.#span.isRecording()) return;
    if (failure !== undefined) {
      this.setAttributes({ 'error.type': failure });
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

class UnrecordedSpan implements Span {
  readonly traceparent: string | undefined;

  constructor(traceparent: string | undefined) {
    this.traceparent = traceparent;
  }

  setAttributes(): void {}

  end(): void {}
}

function counted(exporter: SpanExporter, metrics: Metrics): SpanExporter {
  const spans = metrics.counter(
    'trace_spans_total',
    'Spans, by whether they were exported (sent) or not (lost).',
    ['outcome'],
  );
  for (const outcome of ['sent', 'lost']) spans.inc({ outcome }, 0);
  return {
    export(batch, done) {
      exporter.export(batch, (result) => {
        spans.inc({ outcome: result.code === SUCCESS ? 'sent' : 'lost' }, batch.length);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

function parseShare(text: string): number {
  const share = Number(text);
  return share >= 0 && share <= 1 ? share : refuse('a number from 0 to 1');
}
