import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DeferredResults } from './deferred-results.ts';

const DELAY_MS = 1_000;

let results: DeferredResults;
/** The ordering keys of the results that may be recorded. */
let recorded: string[];
beforeEach(() => {
  vi.useFakeTimers();
  results = new DeferredResults(DELAY_MS);
  recorded = [];
});
afterEach(() => {
  results.close();
  vi.useRealTimers();
});

const laneOf = (orderingKey: string) => ({ orderingKey, destinationId: 'destination' });
async function defer(orderingKeys: readonly string[], isUrgent = false): Promise<void> {
  for (const key of orderingKeys)
    void results.defer(laneOf(key), isUrgent).then(() => recorded.push(key));
  await vi.advanceTimersByTimeAsync(0);
}

test('results that are deferred are recorded together, when the time of the first one is over', async () => {
  await defer(['a']);
  await vi.advanceTimersByTimeAsync(DELAY_MS - 1);
  await defer(['b']);
  expect(recorded).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(recorded).toEqual(['a', 'b']);
});

test('no more than 32 results are deferred', async () => {
  const keys = Array.from({ length: 32 }, (_, n) => `key ${n}`);
  await defer(keys.slice(1));
  expect(recorded).toEqual([]);
  await defer(['key 0']);
  expect(recorded).toHaveLength(32);
});

test('with an urgent result all are recorded', async () => {
  await defer(['a']);
  await defer(['b'], true);
  expect(recorded).toEqual(['a', 'b']);
});

test('when a delivery begins to wait behind a deferred result, all are recorded', async () => {
  await defer(['a', 'b']);
  results.addWaiting([laneOf('c')]);
  await vi.advanceTimersByTimeAsync(0);
  expect(recorded).toEqual([]);
  results.addWaiting([laneOf('a')]);
  await vi.advanceTimersByTimeAsync(0);
  expect(recorded).toEqual(['a', 'b']);
});

test("when the capacity of one result's destination is needed, all are recorded", async () => {
  await defer(['a', 'b']);
  results.recordDeferredOf(new Set(['other']));
  await vi.advanceTimersByTimeAsync(0);
  expect(recorded).toEqual([]);
  results.recordDeferredOf(new Set(['other', 'destination']));
  await vi.advanceTimersByTimeAsync(0);
  expect(recorded).toEqual(['a', 'b']);
  await defer(['c']);
  results.recordDeferredOf(undefined);
  await vi.advanceTimersByTimeAsync(0);
  expect(recorded).toEqual(['a', 'b', 'c']);
});

test('results are not deferred while deliveries wait in their lane', async () => {
  results.addWaiting([laneOf('a')]);
  await defer(['b', 'a', 'a']);
  expect(recorded).toEqual(['b', 'a', 'a']);
  results.updateWaiting([laneOf('a')], []);
  await defer(['a']);
  expect(recorded).toHaveLength(3);
});

test('after a promotion, results of the lane are not deferred, whoever has added its deliveries', async () => {
  await defer(['a']);
  await vi.advanceTimersByTimeAsync(DELAY_MS);
  results.updateWaiting([laneOf('a'), laneOf('b')], [laneOf('a')]);
  await defer(['a']);
  expect(recorded).toEqual(['a', 'a']);
  await defer(['b']);
  expect(recorded).toHaveLength(2);
});

test('after the close nothing is deferred', async () => {
  await defer(['a']);
  results.close();
  await defer(['b']);
  expect(recorded).toEqual(['a', 'b']);
});
