import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DispatcherMetrics } from './dispatcher-metrics.ts';

const HOUR_MS = 3_600_000;

let nowMs = 1;
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => nowMs));
afterEach(() => void vi.restoreAllMocks());

test('webhooks that a pause has held are those of a failing receiver until all of them are sent', async () => {
  const metrics = new Metrics();
  const dispatcherMetrics = new DispatcherMetrics(metrics, HOUR_MS);
  const observe = (latencyMs: number) =>
    dispatcherMetrics.observeFirstByte('destination', new Date(0), new Date(latencyMs));
  const countOf = async (receiver: string) => {
    const text = await metrics.text();
    const [, count] = text.match(`latency_seconds_count{receiver="${receiver}"} (\\d+)`) ?? [];
    return Number(count);
  };
  dispatcherMetrics.markHeldBack(['destination']);
  for (let hours = 0; hours < 3; hours += 1) {
    observe(72 * HOUR_MS);
    nowMs += HOUR_MS;
  }
  observe(5);
  expect([await countOf('failing'), await countOf('answering')]).toEqual([4, 0]);
  nowMs += HOUR_MS;
  observe(72 * HOUR_MS);
  expect([await countOf('failing'), await countOf('answering')]).toEqual([4, 1]);
});
