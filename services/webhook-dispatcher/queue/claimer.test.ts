import { randomUUID } from 'node:crypto';
import { runQuery } from '@creditlane/postgres/statement';
import { untilWaiting } from '@creditlane/postgres/test-awaited-locks';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { endExpiredHoldsQuery } from '../store/pending/lanes.ts';
import { insertDelivery, openDispatcherDatabase, type TestDelivery } from '../test-deliveries.ts';
import { Backlog } from './backlog.ts';
import { Claimer, claimPauseMs } from './claimer.ts';
import type { LeasedDelivery } from './delivery.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { OpenBreakers } from './open-breakers.ts';
import { DestinationRates } from './rates/destination-rates.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await openDispatcherDatabase();
});
afterEach(() => database.drop());

/** Inserts a delivery into a lane, and returns its id. The next attempt of one whose hold has expired is in an hour. */
async function addDelivery(
  lane: string,
  { isExpired = false, ...delivery }: TestDelivery & { isExpired?: boolean } = {},
): Promise<string> {
  const expired = { holdUntil: new Date(), nextAttemptAt: new Date(Date.now() + 3_600_000) };
  const { id } = await insertDelivery(database.sql, {
    ...delivery,
    ...laneOf(lane),
    ...(isExpired && expired),
  });
  return id;
}

/** Runs `work` while another transaction has the delivery locked. */
async function whileLocked(id: string, work: () => Promise<void>): Promise<void> {
  const holder = await database.sql.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM deliveries WHERE id = $1 FOR UPDATE', [id]);
    await work();
    await holder.query('ROLLBACK');
  } finally {
    holder.release();
  }
}

const LEASE_MS = 60_000;

function emptyQueue() {
  const backlog = new Backlog();
  const queue = new DeliveryQueue({
    breakers: new OpenBreakers(),
    rates: new DestinationRates(),
    backlog,
    leaseMs: LEASE_MS,
    maxInFlight: 10,
    maxInFlightPerDestination: 10,
    onRefused: () => undefined,
  });
  return { queue, backlog };
}

const laneOf = (id: string) => ({ orderingKey: id, destinationId: id });

test('while a delivery whose hold has expired is locked, the holds of other lanes end', async () => {
  const [lockedLane, otherLane] = [randomUUID(), randomUUID()];
  const locked = await addDelivery(lockedLane, { isExpired: true });
  await addDelivery(otherLane, { isExpired: true });
  const pool = database.connect({ options: '-c lock_timeout=1s' });
  const endHolds = () => runQuery(pool, endExpiredHoldsQuery(10));
  await whileLocked(locked, async () => expect(await endHolds()).toEqual([laneOf(otherLane)]));
  expect(await endHolds()).toEqual([laneOf(lockedLane)]);
});

test('while a later delivery of a replayed lane is locked, the hold of the replayed one does not end', async () => {
  const lane = randomUUID();
  await addDelivery(lane, { isExpired: true, replays: 1 });
  const later = await addDelivery(lane);
  const pool = database.connect({ options: '-c lock_timeout=1s' });
  const endHolds = () => runQuery(pool, endExpiredHoldsQuery(10));
  await whileLocked(later, async () => expect(await endHolds()).toEqual([]));
  expect(await endHolds()).toEqual([laneOf(lane)]);
});

test.each([
  ['no backlog is known', 2_000, {}],
  ['a destination may have a backlog', 250, { isBacklogEmpty: false }],
  ['the queue is full', 250, { wasFull: true, nextDueInMs: 0 }],
  ['no backlog is known and a delivery is due earlier', 1_234, { nextDueInMs: 1_234 }],
  ['a delivery is due', 0, { isBacklogEmpty: false, nextDueInMs: 0 }],
])('while %s, the claimer waits for %i ms', (_, pauseMs, found) => {
  const idle = { wasFull: false, isBacklogEmpty: true, nextDueInMs: Infinity };
  expect(claimPauseMs({ ...idle, ...found })).toBe(pauseMs);
});

test('a delivery that became due while a claim was under way is claimed at once', async () => {
  const { queue, backlog } = emptyQueue();
  const wait = vi.spyOn(backlog.claimable, 'wait');
  // The claim has been answered, and its deliveries are being added.
  vi.spyOn(queue, 'add').mockImplementationOnce(() => {
    backlog.expectDue(0);
    const untilMs = performance.now() + 101;
    while (performance.now() < untilMs);
  });
  const pool = database.connect();
  const claimer = new Claimer({ pool, log: silentLog, queue, backlog, leaseMs: LEASE_MS });
  try {
    await expect.poll(() => wait.mock.calls.map(([ms]) => ms)).toEqual([0, 2_000]);
  } finally {
    await claimer.close();
  }
});

test('a claimer begins a transaction only when a hold has expired', async () => {
  const { queue, backlog } = emptyQueue();
  const pool = database.connect();
  const texts: string[] = [];
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const note = (...args: unknown[]) => {
      texts.push((args[0] as { text?: string }).text ?? '');
      return query(...args);
    };
    Object.assign(client, { query: note });
  });
  const wait = vi.spyOn(backlog.claimable, 'wait');
  const asksForHolds = () => texts.filter((text) => text.includes('hold_until')).length;
  const claimer = new Claimer({ pool, log: silentLog, queue, backlog, leaseMs: LEASE_MS });
  try {
    await expect.poll(asksForHolds).toBeGreaterThan(0);
    await expect.poll(() => wait.mock.calls.length).toBeGreaterThan(0);
    // A transaction that an earlier check began would have been sent before the next check.
    const checks = asksForHolds();
    backlog.expectDue(0);
    await expect.poll(asksForHolds).toBeGreaterThan(checks);
    expect(texts).not.toContain('BEGIN');
    const lane = randomUUID();
    await addDelivery(lane, { isExpired: true });
    backlog.add([lane]);
    await expect.poll(() => texts, { timeout: 15_000 }).toContain('BEGIN');
  } finally {
    await claimer.close();
  }
});

test('a claimer whose queue was full claims again after a quarter of a second', async () => {
  const { queue, backlog } = emptyQueue();
  const deliveries = Array.from({ length: 60 }, () => {
    const ids = { id: randomUUID(), orderingKey: randomUUID(), destinationId: randomUUID() };
    return { ...ids, replays: 0 } as LeasedDelivery;
  });
  queue.add(deliveries, performance.now());
  const wait = vi.spyOn(backlog.claimable, 'wait');
  const pool = database.connect();
  const claimer = new Claimer({ pool, log: silentLog, queue, backlog, leaseMs: LEASE_MS });
  try {
    await expect.poll(() => wait.mock.lastCall?.[0]).toBe(250);
    queue.drop(deliveries.map(({ destinationId }) => destinationId));
    await expect.poll(() => wait.mock.lastCall?.[0]).toBe(2_000);
  } finally {
    await claimer.close();
  }
});

test('the age of the last claim rises while claims fail, and falls with the first that succeeds', async () => {
  const { queue, backlog } = emptyQueue();
  let failedMs = 0;
  const capacity = vi.spyOn(queue, 'claimCapacity').mockImplementation(() => {
    failedMs = performance.now();
    throw new Error('the database is away');
  });
  const pool = database.connect();
  const claimer = new Claimer({ pool, log: silentLog, queue, backlog, leaseMs: LEASE_MS });
  const hasClaimedSince = (ms: number) => {
    const sinceMs = performance.now() - ms;
    return claimer.claimAgeMs < sinceMs;
  };
  try {
    await expect.poll(() => failedMs).toBeGreaterThan(0);
    expect(hasClaimedSince(failedMs)).toBe(false);
    capacity.mockRestore();
    backlog.claimable.signal();
    await expect.poll(() => hasClaimedSince(failedMs)).toBe(true);
  } finally {
    await claimer.close();
  }
});

test('when the delivery behind an expired hold is locked, due deliveries of other lanes are claimed', async () => {
  const lane = randomUUID();
  await addDelivery(lane, { isExpired: true });
  const waiting = await addDelivery(lane, { state: 'waiting' });
  await addDelivery(randomUUID());
  const { queue, backlog } = emptyQueue();
  const pool = database.connect();
  let claimer: Claimer | undefined;
  await whileLocked(waiting, async () => {
    claimer = new Claimer({ pool, log: silentLog, queue, backlog, leaseMs: LEASE_MS });
    await expect.poll(() => queue.size).toBe(1);
  });
  await claimer?.close();
});

test('after holds were ended, a check that was due meanwhile follows', async () => {
  const lane = randomUUID();
  await addDelivery(lane, { isExpired: true });
  const waiting = await addDelivery(lane, { state: 'waiting' });
  const { queue, backlog } = emptyQueue();
  const expectDue = vi.spyOn(backlog, 'expectDue');
  const pool = database.connect();
  let claimer: Claimer | undefined;
  await whileLocked(waiting, async () => {
    claimer = new Claimer({ pool, log: silentLog, queue, backlog, leaseMs: LEASE_MS });
    await untilWaiting(database.sql, 1);
    await addDelivery(randomUUID(), { isExpired: true });
    backlog.expectDue(0);
    await expect.poll(() => backlog.nextDueInMs(performance.now())).toBe(Infinity);
    expect(expectDue).toHaveBeenCalledTimes(1);
  });
  try {
    await expect.poll(() => expectDue.mock.calls.slice(0, 2)).toEqual([[0], [0]]);
    const held = 'SELECT FROM deliveries WHERE holding AND hold_until IS NOT NULL';
    await expect.poll(async () => (await database.sql.query(held)).rows.length).toBe(0);
  } finally {
    await claimer?.close();
  }
});
