import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OutboxRow } from './outgoing-events.ts';
import { ReadPosition } from './read-position.ts';
import type { Lease } from './shard-leases.ts';

const WHOLE_EVERY_MS = 5_000;
const LEASES: readonly Lease[] = [{ shard: 0, fence: 1 }];

let position: ReadPosition;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  position = new ReadPosition(WHOLE_EVERY_MS);
});
afterEach(() => vi.useRealTimers());

/** Reads, while the events with these ids are unpublished; returns after which id. */
async function read(ids: readonly number[], leases = LEASES): Promise<number> {
  let after = -1;
  await position.read(leases, async (afterId) => {
    after = afterId;
    return ids.filter((id) => id > afterId).map((id) => ({ id })) as OutboxRow[];
  });
  return after;
}

/** Reads once in a second, while each time one more event is unpublished: 101, 102 and so on. */
async function readFor(seconds: number): Promise<number[]> {
  const after = [];
  for (let second = 1; second <= seconds; second += 1) {
    after.push(await read([100 + second]));
    vi.advanceTimersByTime(1_000);
  }
  return after;
}

test('reads begin before the oldest event of one or two seconds ago, and with the whole queue every five seconds', async () => {
  expect(await readFor(12)).toEqual([0, 0, 100, 101, 102, 0, 104, 105, 106, 107, 0, 109]);
});

test('within a second, the position does not move', async () => {
  await readFor(4);
  expect([await read([110]), await read([120]), await read([130])]).toEqual([102, 103, 103]);
});

test('while no event is unpublished, the position stays', async () => {
  await readFor(3);
  expect(await read([])).toBe(101);
  vi.advanceTimersByTime(1_000);
  expect(await read([])).toBe(102);
  vi.advanceTimersByTime(500);
  expect(await read([])).toBe(102);
});

test('when the whole queue has an event before the position, the reads go back to it', async () => {
  await readFor(5);
  expect(await read([50, 51, 106])).toBe(0);
  expect(await read([50, 51, 106])).toBe(49);
  expect(await read([51, 106])).toBe(49);
});

test('under a further lease, or a new one of a shard, the whole queue is read', async () => {
  await readFor(4);
  const further = [...LEASES, { shard: 1, fence: 1 }];
  expect(await read([105], further)).toBe(0);
  expect(await read([105], further)).toBeGreaterThan(0);
  expect(await read([105], LEASES)).toBeGreaterThan(0);
  expect(await read([105], [{ shard: 0, fence: 2 }])).toBe(0);
});

test('after a restart, the whole queue is read', async () => {
  await readFor(4);
  position.restart();
  expect(await read([105])).toBe(0);
  expect(await read([105])).toBeGreaterThan(0);
});

test('a read of the whole queue that fails is repeated', async () => {
  await readFor(5);
  const failed = position.read(LEASES, () => Promise.reject(new Error('away')));
  await expect(failed).rejects.toThrow('away');
  expect(await read([106])).toBe(0);
});
