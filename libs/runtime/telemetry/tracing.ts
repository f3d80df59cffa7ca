/**
 * The traces of this process: spans that follow one request through every service, sent by OTLP.
 *
 * A process has one tracer, as it has one standard output. Until `startTracing` nothing is recorded,
 * loaded or opened, and what a span would hand on is handed on as it came.
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

/** A piece of work with a beginning and an end. */
export interface Span {
  /** To be handed on to whatever this work causes; undefined where there is no trace. */
  readonly traceparent: string | undefined;
  setAttributes(attributes: SpanAttributes): void;
  /** `failure` is a stable word for what went wrong. Ended twice, it ended the first time. */
  end(failure?: string): void;
}

export interface SpanOptions {
  kind: 'server' | 'client' | 'producer' | 'consumer';
  /** The `traceparent` of what caused the work. */
  parent: string | null | undefined;
  /** Whether a trace begins here where there is none; else such work is not recorded. */
  startsTrace?: boolean;
  attributes?: SpanAttributes;
}

export interface TracingConfig {
  /** Of the OTLP receiver, over HTTP; none when there is to be no tracing. */
  endpoint: string;
  /** Of the traces that begin here, from 0 to 1; where a caller has decided, that holds. */
  sampleRatio: number;
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};
/** Spans that wait to be sent; beyond that they are dropped rather than held in memory. */
const MAX_WAITING = 8_192;
const SEND_EVERY_MS = 1_000;
/** What a receiver that is away adds to the closing of a process at most. */
const SEND_TIMEOUT_MS = 2_000;

/** Of an export, by the OpenTelemetry SDK's own numbers. */
const SUCCESS = 0;

let tracer: Tracer | undefined;

/** The settings of traces, by the names that OpenTelemetry gives them. */
export const TRACING: Setting<TracingConfig> = setting.all({
  endpoint: setting.url('OTEL_EXPORTER_OTLP_ENDPOINT', {
    default: '',
    about: 'The OTLP receiver of traces, over HTTP; nothing is recorded without.',
  }),
  sampleRatio: setting.parsed('OTEL_TRACES_SAMPLER_ARG', parseShare, {
    type: 'number from 0 to 1',
    default: '1',
    about: "The share of traces recorded; a caller's decision about its own trace holds.",
  }),
});

/**
 * Begins to record spans, and to send them every second until the process ends, the last ones then.
 * A receiver that is away costs spans and nothing else. Without an endpoint it does nothing.
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
    await provider.shutdown().catch(() => log.warn('the last spans could not be sent'));
  });
}

/** Begins a span. Its name comes from a closed set, such as templates of routes. */
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

/** The outcome of the work, with which all its spans end. */
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
  const spans = metrics.counter('trace_spans_total', 'Spans, by what became of them.', ['outcome']);
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
