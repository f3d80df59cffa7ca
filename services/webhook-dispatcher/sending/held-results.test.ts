import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HeldResults } from './held-results.ts';

const HOLD_MS = 1_000;

let results: HeldResults;
/** The ordering keys of the results that may be recorded. */
let released: string[];
beforeEach(() => {
  vi.useFakeTimers();
  results = new HeldResults(HOLD_MS);
  released = [];
});
afterEach(() => {
  results.close();
  vi.useRealTimers();
});

const laneOf = (orderingKey: string) => ({ orderingKey, destinationId: 'destination' });
async function hold(orderingKeys: readonly string[], isUrgent = false): Promise<void> {
  for (const key of orderingKeys)
    void results.hold(laneOf(key), isUrgent).then(() => released.push(key));
  await vi.advanceTimersByTimeAsync(0);
}

it('results are held for the time of the first one, and are released together', async () => {
  await hold(['a']);
  await vi.advanceTimersByTimeAsync(HOLD_MS - 1);
  await hold(['b']);
  expect(released).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(released).toEqual(['a', 'b']);
});

it('no more than 32 results are held', async () => {
  const keys = Array.from({ length: 32 }, (_, n) => `key ${n}`);
  await hold(keys.slice(1));
  expect(released).toEqual([]);
  await hold(['key 0']);
  expect(released).toHaveLength(32);
});

it('an urgent result ends the hold of all', async () => {
  await hold(['a']);
  await hold(['b'], true);
  expect(released).toEqual(['a', 'b']);
});

it('a delivery that begins to wait behind a held result ends the hold', async () => {
  await hold(['a', 'b']);
  results.addWaiting([laneOf('c')]);
  await vi.advanceTimersByTimeAsync(0);
  expect(released).toEqual([]);
  results.addWaiting([laneOf('a')]);
  await vi.advanceTimersByTimeAsync(0);
  expect(released).toEqual(['a', 'b']);
});

it('the hold of all ends when one of them has a place of a destination that needs it', async () => {
  await hold(['a', 'b']);
  results.releasePlaces(new Set(['other']));
  await vi.advanceTimersByTimeAsync(0);
  expect(released).toEqual([]);
  results.releasePlaces(new Set(['other', 'destination']));
  await vi.advanceTimersByTimeAsync(0);
  expect(released).toEqual(['a', 'b']);
  await hold(['c']);
  results.releasePlaces(undefined);
  await vi.advanceTimersByTimeAsync(0);
  expect(released).toEqual(['a', 'b', 'c']);
});

it('results are not held while deliveries wait in their lane', async () => {
  results.addWaiting([laneOf('a')]);
  await hold(['b', 'a', 'a']);
  expect(released).toEqual(['b', 'a', 'a']);
  results.updateWaiting([laneOf('a')], []);
  await hold(['a']);
  expect(released).toHaveLength(3);
});

it('after a promotion, results of the lane are not held, whoever has added its deliveries', async () => {
  await hold(['a']);
  await vi.advanceTimersByTimeAsync(HOLD_MS);
  results.updateWaiting([laneOf('a'), laneOf('b')], [laneOf('a')]);
  await hold(['a']);
  expect(released).toEqual(['a', 'a']);
  await hold(['b']);
  expect(released).toHaveLength(2);
});

it('after the close nothing is held', async () => {
  await hold(['a']);
  results.close();
  await hold(['b']);
  expect(released).toEqual(['a', 'b']);
});
