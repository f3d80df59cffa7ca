import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';

test('metrics have the project prefix and their labels', async () => {
  const metrics = new Metrics();
  metrics.counter('writes_total', 'Writes.', ['service']).inc({ service: 'decisions' }, 2);
  metrics.gauge('depth', 'Depth.').set(7);
  metrics.histogram('duration_seconds', 'Duration.', [], [1, 2]).observe(1.5);
  const text = await metrics.text();
  expect(text).toContain('# HELP creditlane_writes_total Writes.');
  expect(text).toContain('creditlane_writes_total{service="decisions"} 2');
  expect(text).toContain('creditlane_depth 7');
  expect(text).toContain('creditlane_duration_seconds_bucket{le="2"} 1');
  expect(metrics.contentType).toContain('text/plain');
});

test('a second request for a name returns the same instrument', () => {
  const metrics = new Metrics();
  const first = metrics.counter('writes_total', 'Writes.', ['service']);
  expect(metrics.counter('writes_total', 'Writes.', ['service'])).toBe(first);
});

test('a second request for a name with another type or labels throws', () => {
  const metrics = new Metrics();
  metrics.counter('writes_total', 'Writes.', ['service']);
  expect(() => metrics.gauge('writes_total', 'Writes.')).toThrow('writes_total');
  expect(() => metrics.counter('writes_total', 'Writes.', ['method'])).toThrow('writes_total');
});

test('every collect of a shared gauge runs on a scrape', async () => {
  const metrics = new Metrics();
  for (const service of ['decisions', 'webhooks']) {
    metrics.gauge('depth', 'Depth.', ['service'], async (gauge) => gauge.set({ service }, 3));
  }
  const text = await metrics.text();
  expect(text).toContain('creditlane_depth{service="decisions"} 3');
  expect(text).toContain('creditlane_depth{service="webhooks"} 3');
});

test('a collect that fails is counted, and the other metrics are read', async () => {
  const metrics = new Metrics();
  metrics.gauge('depth', 'Depth.', [], () => Promise.reject(new Error('no database')));
  metrics.gauge('sent', 'Sent.', [], (gauge) => gauge.set(4));
  const text = await metrics.text();
  expect(text).toContain('creditlane_sent 4');
  expect(text).toContain('creditlane_metric_collect_failures_total{metric="creditlane_depth"} 1');
});

test('a failure to read several gauges at once is counted for each of them', async () => {
  const metrics = new Metrics();
  const gauges = [metrics.gauge('depth', 'Depth.'), metrics.gauge('age_seconds', 'Age.')];
  metrics.onScrape(['depth', 'age_seconds'], async () => {
    for (const gauge of gauges) gauge.set(await Promise.reject(new Error('no database')));
  });
  const failures = (text: string) => text.match(/(?<=collect_failures_total)\{.*/g);
  expect(failures(await metrics.text())).toEqual([
    '{metric="creditlane_depth"} 1',
    '{metric="creditlane_age_seconds"} 1',
  ]);
});

test('the figures of the process are included on request only', async () => {
  expect(await new Metrics().text()).not.toContain('process_cpu');
  expect(await new Metrics({ processFigures: true }).text()).toContain('process_cpu');
});
