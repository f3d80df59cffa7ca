import { silentLog } from '@creditlane/runtime/test-log';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OutboxRow } from './outgoing-events.ts';
import { ReadPosition } from './read-position.ts';
import type { Lease } from './shard-leases.ts';

const MAX_PAUSE_MS = 5_000;
const LEASES: readonly Lease[] = [{ shard: 0, fence: 1 }];

let position: ReadPosition;
/** The ids of the unpublished events. */
let unpublished: number[];
let scanTakesMs: number;
let scans: number;
const findOldest = vi.fn<(leases: readonly Lease[]) => Promise<number | undefined>>();
const wake = vi.fn();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  scanTakesMs = 0;
  scans = 0;
  wake.mockClear();
  findOldest.mockClear();
  findOldest.mockImplementation(async () => {
    scans += 1;
    vi.advanceTimersByTime(scanTakesMs);
    return unpublished[0];
  });
  position = new ReadPosition({ findOldest, wake, maxPauseMs: MAX_PAUSE_MS, log: silentLog });
});
afterEach(() => vi.useRealTimers());

/** Reads while the events with these ids are unpublished, and ends the scan that begins; returns after which id it reads. */
async function read(ids: readonly number[], leases = LEASES): Promise<number> {
  unpublished = [...ids];
  let after = -1;
  await position.read(leases, async (afterId) => {
    after = afterId;
    return ids.filter((id) => id > afterId).map((id) => ({ id })) as OutboxRow[];
  });
  await position.scanEnded();
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

test('reads begin before the oldest event that was unpublished a second ago', async () => {
  expect(await readTwiceInASecond(10)).toEqual([0, 0, 0, 0, 0, 102, 102, 104, 104, 106]);
  expect(scans).toBe(4);
});

test('the next scan begins after fifty times the duration of the last one, at most after the longest pause', async () => {
  await readTwiceInASecond(6);
  scanTakesMs = 40;
  await read([110]);
  expect(scans).toBe(3);
  vi.advanceTimersByTime(1_950);
  await read([111]);
  expect(scans).toBe(3);
  vi.advanceTimersByTime(10);
  scanTakesMs = 1_000;
  await read([112]);
  expect(scans).toBe(4);
  vi.advanceTimersByTime(3_990);
  await read([113]);
  expect(scans).toBe(4);
  vi.advanceTimersByTime(10);
  await read([114]);
  expect(scans).toBe(5);
});

test('reads and their position go on during a scan, of which there is one at a time', async () => {
  await readTwiceInASecond(6);
  const scanned = Promise.withResolvers<number>();
  findOldest.mockClear().mockImplementation(() => scanned.promise);
  const select = vi.fn(async () => []);
  for (const passedMs of [0, 4_000, 4_000]) {
    vi.advanceTimersByTime(passedMs);
    await position.read(LEASES, select);
  }
  expect(findOldest).toHaveBeenCalledOnce();
  expect(select.mock.calls).toEqual([[102], [104], [106]]);
  scanned.resolve(107);
  await position.scanEnded();
});

test('when no event is unpublished, reads begin after the last one that was read', async () => {
  await readTwiceInASecond(4);
  expect(await read([])).toBe(0);
  vi.advanceTimersByTime(1_000);
  expect(await read([])).toBe(102);
  expect(await read([])).toBe(104);
});

test('when a scan finds an event before the position, the reads go back to it at once', async () => {
  await readTwiceInASecond(6);
  expect(wake).not.toHaveBeenCalled();
  expect(await read([50, 51, 107])).toBe(102);
  expect(wake).toHaveBeenCalledOnce();
  expect(await read([50, 51, 107])).toBe(49);
  expect(await read([51, 107])).toBe(49);
});

test('under a further lease, or a new one of a shard, the whole queue is read', async () => {
  await readTwiceInASecond(6);
  const further = [...LEASES, { shard: 1, fence: 1 }];
  expect(await read([107], LEASES)).toBe(102);
  expect(await read([107], further)).toBe(0);
  await readTwiceInASecond(6);
  expect(await read([107], [{ shard: 0, fence: 2 }])).toBe(0);
});

test('a scan that began under other leases moves no position', async () => {
  await readTwiceInASecond(6);
  const scaned = Promise.withResolvers<number>();
  findOldest.mockImplementationOnce(() => scaned.promise);
  await position.read(LEASES, async () => []);
  const renewed = [{ shard: 0, fence: 2 }];
  const during = position.read(renewed, async () => []);
  scaned.resolve(200);
  await during;
  await position.scanEnded();
  vi.advanceTimersByTime(1_000);
  await read([107], renewed);
  expect(await read([107], renewed)).toBe(0);
});

test('after a restart, the whole queue is read', async () => {
  await readTwiceInASecond(6);
  position.restart();
  expect(await read([107])).toBe(0);
});

test('while scans fail, reads go on, and a pause follows each failure', async () => {
  await readTwiceInASecond(6);
  findOldest.mockClear().mockImplementation(async () => Promise.reject(new Error('timed out')));
  expect(await read([107])).toBe(102);
  expect(await read([107])).toBe(104);
  expect(findOldest).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(4_000);
  expect(await read([107])).toBe(104);
  expect(findOldest).toHaveBeenCalledTimes(2);
});

test('a read that comes after the longest pause is one of the whole queue, without a scan', async () => {
  await readTwiceInASecond(6);
  vi.advanceTimersByTime(MAX_PAUSE_MS);
  findOldest.mockClear();
  expect(await read([50, 107])).toBe(0);
  expect(findOldest).not.toHaveBeenCalled();
  expect(await read([51, 107])).toBe(49);
});
