import { expect, test } from 'vitest';
import { UnmarkedEvents } from './unmarked-events.ts';

const LEASES = [
  { shard: 0, fence: 7 },
  { shard: 1, fence: 3 },
];

test('without events nothing is to be marked', () => {
  const unmarked = new UnmarkedEvents();
  expect(unmarked.dueInMs(0)).toBe(Infinity);
  expect(unmarked.isDue(LEASES, 1_000_000)).toBe(false);
  unmarked.makeDue();
  expect(unmarked.isDue(LEASES, 1_000_000)).toBe(false);
});

test('events are to be marked 200 ms after the first of them was published', () => {
  const unmarked = new UnmarkedEvents();
  unmarked.add([1, 2], LEASES, 1_000);
  unmarked.add([3], LEASES, 1_150);
  expect(unmarked.dueInMs(1_150)).toBe(50);
  expect(unmarked.isDue(LEASES, 1_199)).toBe(false);
  expect(unmarked.isDue(LEASES, 1_200)).toBe(true);
  expect([...unmarked.clear()]).toEqual([
    [1, 1_000],
    [2, 1_000],
    [3, 1_150],
  ]);
  expect(unmarked.isDue(LEASES, 9_999)).toBe(false);
});

test('a hundred events, and events that somebody waits for, are to be marked at once', () => {
  const full = new UnmarkedEvents();
  full.add(
    Array.from({ length: 100 }, (_, id) => id),
    LEASES,
    0,
  );
  expect(full.isDue(LEASES, 0)).toBe(true);
  const awaited = new UnmarkedEvents();
  awaited.add([1], LEASES, 0);
  awaited.makeDue();
  expect(awaited.isDue(LEASES, 0)).toBe(true);
});

test('events are to be marked before a round under another fence, or without their shard', () => {
  const unmarked = new UnmarkedEvents();
  unmarked.add([1], LEASES, 0);
  expect(unmarked.isDue([...LEASES, { shard: 2, fence: 1 }], 0)).toBe(false);
  expect(unmarked.isDue([{ shard: 0, fence: 8 }, ...LEASES.slice(1)], 0)).toBe(true);
  expect(unmarked.isDue(LEASES.slice(1), 0)).toBe(true);
  expect(unmarked.leases).toEqual(LEASES);
});
