import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OutboxRow } from './outgoing-events.ts';
import { ReadPosition } from './read-position.ts';
import type { Lease } from './shard-leases.ts';

const MAX_PAUSE_MS = 5_000;
const LEASES: readonly Lease[] = [{ shard: 0, fence: 1 }];

let position: ReadPosition;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  position = new ReadPosition(MAX_PAUSE_MS);
});
afterEach(() => vi.useRealTimers());

/** Reads in this time, while the events with these ids are unpublished; returns after which id. */
async function read(ids: readonly number[], { leases = LEASES, tookMs = 0 } = {}): Promise<number> {
  let after = -1;
  await position.read(leases, async (afterId) => {
    after = afterId;
    vi.advanceTimersByTime(tookMs);
    return ids.filter((id) => id > afterId).map((id) => ({ id })) as OutboxRow[];
  });
  return after;
}

/** Reads twice in a second, while each time one more event is unpublished: 101, 102 and so on. */
async function readTwiceInASecond(times: number): Promise<number[]> {
  const after = [];
  for (let n = 1; n <= times; n += 1) {
    after.push(await read([100 + n]));
    vi.advanceTimersByTime(500);
  }
  return after;
}

test('once in a second the whole queue is read, and the other reads begin before its oldest event a second ago', async () => {
  expect(await readTwiceInASecond(8)).toEqual([0, 0, 0, 100, 0, 102, 0, 104]);
});

test('a read of the whole queue that takes long is repeated when it is a fiftieth of the time, or after the longest pause', async () => {
  await readTwiceInASecond(6);
  expect(await read([110], { tookMs: 40 })).toBe(0);
  vi.advanceTimersByTime(1_950);
  expect(await read([111])).toBe(104);
  vi.advanceTimersByTime(10);
  expect(await read([112], { tookMs: 1_000 })).toBe(0);
  vi.advanceTimersByTime(3_990);
  expect(await read([113])).toBe(109);
  vi.advanceTimersByTime(10);
  expect(await read([114])).toBe(0);
});

test('while no event is unpublished, the position stays', async () => {
  await readTwiceInASecond(4);
  expect(await read([])).toBe(0);
  expect(await read([])).toBe(102);
  vi.advanceTimersByTime(1_000);
  expect(await read([])).toBe(0);
  expect(await read([])).toBe(102);
});

test('when the whole queue has an event before the position, the reads go back to it', async () => {
  await readTwiceInASecond(6);
  expect(await read([50, 51, 107])).toBe(0);
  expect(await read([50, 51, 107])).toBe(49);
  expect(await read([51, 107])).toBe(49);
});

test('under a further lease, or a new one of a shard, the whole queue is read', async () => {
  await readTwiceInASecond(5);
  const further = [...LEASES, { shard: 1, fence: 1 }];
  expect(await read([106], { leases: further })).toBe(0);
  expect(await read([106], { leases: further })).toBeGreaterThan(0);
  expect(await read([106], { leases: LEASES })).toBeGreaterThan(0);
  expect(await read([106], { leases: [{ shard: 0, fence: 2 }] })).toBe(0);
});

test('after a restart, the whole queue is read', async () => {
  await readTwiceInASecond(5);
  position.restart();
  expect(await read([106])).toBe(0);
  expect(await read([106])).toBeGreaterThan(0);
});

test('a read of the whole queue that fails is repeated', async () => {
  await readTwiceInASecond(6);
  const failed = position.read(LEASES, () => Promise.reject(new Error('away')));
  await expect(failed).rejects.toThrow('away');
  expect(await read([107])).toBe(0);
});
