import { afterEach, beforeEach, expect, test } from 'vitest';
import { readEnv } from '../env.ts';
import type { Process } from '../run.ts';
import { createTestProcess } from '../testing/test-process.ts';
import { type OtlpReceiver, startOtlpReceiver } from './test-otlp-receiver.ts';
import { newTraceparent, parseTraceparent } from './traceparent.ts';
import { endSpansAfter, type SpanOptions, startSpan, startTracing, TRACING } from './tracing.ts';

const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const SERVER: SpanOptions = { kind: 'server', parent: undefined, startsTrace: true };

let receiver: OtlpReceiver;
let process: Process;

beforeEach(async () => {
  receiver = await startOtlpReceiver();
  process = createTestProcess('decisions');
});
afterEach(async () => {
  await process.closers.close();
  await receiver.close();
});

const start = (sampleRatio = 1, endpoint = receiver.endpoint) =>
  startTracing({ endpoint, sampleRatio }, 'decisions', process);

test('a span is exported with its parent, its outcome and its attributes when the process closes', async () => {
  await start();
  const attributes = { 'rpc.service': 'Decisions' };
  const span = startSpan('GET /things/{id}', { kind: 'server', parent: CALLER, attributes });
  span.setAttributes({ 'http.response.status_code': 503 });
  span.end('unavailable');
  await process.closers.close();
  expect(receiver.spans).toEqual([
    {
      service: 'decisions',
      name: 'GET /things/{id}',
      kind: 2,
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: parseTraceparent(span.traceparent)?.spanId,
      parentSpanId: 'b7ad6b7169203331',
      failed: true,
      attributes: {
        'rpc.service': 'Decisions',
        'http.response.status_code': '503',
        'error.type': 'unavailable',
      },
    },
  ]);
  expect(await process.metrics.text()).toContain('trace_spans_total{outcome="sent"} 1');
});

test('an attribute that is not on the allow-list is not exported', async () => {
  await start();
  const attributes = { 'http.route': '/things', 'url.full': 'https://x/secret' } as object;
  startSpan('GET /things', { ...SERVER, attributes }).end();
  await process.closers.close();
  expect(receiver.spans[0]?.attributes).toEqual({ 'http.route': '/things' });
});

test('without a valid parent, a span starts a trace only with startsTrace', async () => {
  await start();
  const traces = [undefined, null, 'nonsense'].map((parent) => {
    startSpan('work that only goes on', { kind: 'consumer', parent }).end();
    const span = startSpan('work', { kind: 'consumer', parent, startsTrace: true });
    span.end();
    return parseTraceparent(span.traceparent)?.traceId;
  });
  await process.closers.close();
  expect(new Set(traces).size).toBe(3);
  expect(receiver.spans.map(({ parentSpanId }) => parentSpanId)).toEqual(['', '', '']);
});

test('the caller’s sampling decision holds; new traces are sampled by the ratio', async () => {
  await start(0);
  startSpan('begins here', SERVER).end();
  startSpan('not recorded by the caller', { kind: 'server', parent: newTraceparent() }).end();
  startSpan('recorded by the caller', { kind: 'server', parent: CALLER }).end();
  await process.closers.close();
  expect(receiver.spans.map(({ name }) => name)).toEqual(['recorded by the caller']);
});

test('failed work ends its spans with the name of its error, and its error is rethrown', async () => {
  await start();
  const spans = [startSpan('one', SERVER), startSpan('two', SERVER)];
  const work = endSpansAfter(spans, Promise.reject(new TypeError('no')));
  await expect(work).rejects.toThrow('no');
  await process.closers.close();
  const outcomes = receiver.spans.map(({ attributes }) => attributes['error.type']);
  expect(outcomes).toEqual(['TypeError', 'TypeError']);
});

test('without an endpoint nothing is exported, and the traceparent is passed on', async () => {
  await start(1, '');
  const span = startSpan('work', { kind: 'server', parent: CALLER });
  span.setAttributes({ 'http.route': '/things' });
  span.end();
  expect(span.traceparent).toBe(CALLER);
  expect(startSpan('work', SERVER).traceparent).toBeUndefined();
  await process.closers.close();
  expect(receiver.texts).toEqual([]);
});

test('with an unreachable receiver the spans are lost, and the process closes', async () => {
  await receiver.close();
  await start();
  startSpan('work', SERVER).end();
  await process.closers.close();
  expect(await process.metrics.text()).toContain('trace_spans_total{outcome="lost"} 1');
});

test('the settings are OpenTelemetry’s, and tracing is off by default', () => {
  expect(readEnv({}, TRACING.read)).toEqual({ endpoint: '', sampleRatio: 1 });
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  };
  const endpoint = 'http://collector:4318';
  expect(readEnv(env, TRACING.read)).toEqual({ endpoint, sampleRatio: 0.25 });
  expect(() => readEnv({ OTEL_TRACES_SAMPLER_ARG: '2' }, TRACING.read)).toThrow(
    'OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1',
  );
});
