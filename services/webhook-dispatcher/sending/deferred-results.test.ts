import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DeferredResults } from './deferred-results.ts';

const DELAY_MS = 1_000;

let results: DeferredResults;
/** The ordering keys of the results that may be recorded. */
let released: string[];
beforeEach(() => {
  vi.useFakeTimers();
  results = new DeferredResults(DELAY_MS);
  released = [];
});
afterEach(() => {
  results.close();
  vi.useRealTimers();
});

const laneOf = (orderingKey: string) => ({ orderingKey, destinationId: 'destination' });
async function defer(orderingKeys: readonly string[], isUrgent = false): Promise<void> {
  for (const key of orderingKeys)
    void results.defer(laneOf(key), isUrgent).then(() => released.push(key));
  await vi.advanceTimersByTimeAsync(0);
}

it('results are deferred for the time of the first one, and are released together', async () => {
  await defer(['a']);
  await vi.advanceTimersByTimeAsync(DELAY_MS - 1);
  await defer(['b']);
  expect(released).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(released).toEqual(['a', 'b']);
});

it('no more than 32 results are deferred', async () => {
  const keys = Array.from({ length: 32 }, (_, n) => `key ${n}`);
  await defer(keys.slice(1));
  expect(released).toEqual([]);
  await defer(['key 0']);
  expect(released).toHaveLength(32);
});

it('an urgent result releases all', async () => {
  await defer(['a']);
  await defer(['b'], true);
  expect(released).toEqual(['a', 'b']);
});

it('a delivery that begins to wait behind a deferred result releases all', async () => {
  await defer(['a', 'b']);
  results.addWaiting([laneOf('c')]);
  await vi.advanceTimersByTimeAsync(0);
  expect(released).toEqual([]);
  results.addWaiting([laneOf('a')]);
  await vi.advanceTimersByTimeAsync(0);
  expect(released).toEqual(['a', 'b']);
});

it('all results are released when one of them is of a destination whose capacity is needed', async () => {
  await defer(['a', 'b']);
  results.recordDeferredOf(new Set(['other']));
  await vi.advanceTimersByTimeAsync(0);
  expect(released).toEqual([]);
  results.recordDeferredOf(new Set(['other', 'destination']));
  await vi.advanceTimersByTimeAsync(0);
  expect(released).toEqual(['a', 'b']);
  await defer(['c']);
  results.recordDeferredOf(undefined);
  await vi.advanceTimersByTimeAsync(0);
  expect(released).toEqual(['a', 'b', 'c']);
});

it('results are not deferred while deliveries wait in their lane', async () => {
  results.addWaiting([laneOf('a')]);
  await defer(['b', 'a', 'a']);
  expect(released).toEqual(['b', 'a', 'a']);
  results.updateWaiting([laneOf('a')], []);
  await defer(['a']);
  expect(released).toHaveLength(3);
});

it('after a promotion, results of the lane are not deferred, whoever has added its deliveries', async () => {
  await defer(['a']);
  await vi.advanceTimersByTimeAsync(DELAY_MS);
  results.updateWaiting([laneOf('a'), laneOf('b')], [laneOf('a')]);
  await defer(['a']);
  expect(released).toEqual(['a', 'a']);
  await defer(['b']);
  expect(released).toHaveLength(2);
});

it('after the close nothing is deferred', async () => {
  await defer(['a']);
  results.close();
  await defer(['b']);
  expect(released).toEqual(['a', 'b']);
});
