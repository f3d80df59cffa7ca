import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { UnmarkedEvents } from './unmarked-events.ts';

const LEASES = [
  { shard: 0, fence: 7 },
  { shard: 1, fence: 3 },
];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => vi.useRealTimers());

test('without events nothing is to be marked', () => {
  const unmarked = new UnmarkedEvents();
  expect(unmarked.dueInMs()).toBe(Infinity);
  expect(unmarked.isDue(LEASES)).toBe(false);
  unmarked.makeDue();
  expect(unmarked.isDue(LEASES)).toBe(false);
});

test('events are to be marked 200 ms after the first of them was published', () => {
  const unmarked = new UnmarkedEvents();
  const startedMs = performance.now();
  unmarked.add([1, 2], LEASES);
  vi.advanceTimersByTime(150);
  unmarked.add([3], LEASES);
  expect(unmarked.dueInMs()).toBe(50);
  vi.advanceTimersByTime(49);
  expect(unmarked.isDue(LEASES)).toBe(false);
  vi.advanceTimersByTime(1);
  expect(unmarked.isDue(LEASES)).toBe(true);
  expect([...unmarked.clear()]).toEqual([
    [1, startedMs],
    [2, startedMs],
    [3, startedMs + 150],
  ]);
  expect(unmarked.isDue(LEASES)).toBe(false);
});

test('a hundred events, and events that somebody waits for, are to be marked at once', () => {
  const full = new UnmarkedEvents();
  full.add(
    Array.from({ length: 100 }, (_, id) => id),
    LEASES,
  );
  expect(full.isDue(LEASES)).toBe(true);
  const awaited = new UnmarkedEvents();
  awaited.add([1], LEASES);
  awaited.makeDue();
  expect(awaited.isDue(LEASES)).toBe(true);
});

test('events are to be marked before a round under another fence, or without their shard', () => {
  const unmarked = new UnmarkedEvents();
  unmarked.add([1], LEASES);
  expect(unmarked.isDue([...LEASES, { shard: 2, fence: 1 }])).toBe(false);
  expect(unmarked.isDue([{ shard: 0, fence: 8 }, ...LEASES.slice(1)])).toBe(true);
  expect(unmarked.isDue(LEASES.slice(1))).toBe(true);
  expect(unmarked.leases).toEqual(LEASES);
});
