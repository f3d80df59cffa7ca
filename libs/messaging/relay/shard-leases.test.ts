import { setImmediate } from 'node:timers/promises';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { silentLog } from '@creditlane/runtime/test-log';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';
import { holdLeaseClock } from '../test-relay.ts';
import { ShardLeases } from './shard-leases.ts';

const LEASE_MS = 1_000;
/** As in shard-leases.ts. */
const RENEW_MS = LEASE_MS / 2;

let db: OpenTestDatabase;
beforeAll(async () => {
  db = await openMessagingTestDatabase('shard_leases');
});
afterAll(() => db?.close());
beforeEach(() => db.pool.query('UPDATE outbox_lease SET holder = gen_random_uuid()'));

/** Counts the announcements of a relay that has three others beside it. */
const threeOthers = () => ({
  count: () => 3,
  announce: vi.fn<() => void>(),
  withdraw: vi.fn<() => void>(),
});

test('a relay whose renewals fail tries again within half a second, and does not announce itself', async () => {
  const others = threeOthers();
  const log = createLog('test', { level: 'silent' });
  const warn = vi.spyOn(log, 'warn');
  const ended = new pg.Pool({ connectionString: db.url });
  await ended.end();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const leases = new ShardLeases(ended, log, others, () => undefined, LEASE_MS);
  const warned = async (times: number) => {
    while (warn.mock.calls.length < times) await setImmediate();
  };
  await warned(1);
  // The pause begins after the warning.
  await setImmediate();
  await vi.advanceTimersByTimeAsync(500);
  await warned(2);
  await leases.close();
  expect(others.announce).not.toHaveBeenCalled();
});

test('expired shards above the share of a relay do not make it renew more often', async () => {
  holdLeaseClock();
  const others = threeOthers();
  const leases = new ShardLeases(db.reserved, silentLog, others, () => undefined, LEASE_MS);
  try {
    // The first renewal has seen the shards of the others.
    await expect.poll(() => others.announce.mock.calls.length).toBe(1);
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    // The second takes one expired shard, and leaves three.
    await expect.poll(() => leases.held().length).toBe(1);
    const renewals = others.announce.mock.calls.length;
    const sinceMs = Date.now();
    await expect
      .poll(() => others.announce.mock.calls.length, { interval: 1 })
      .toBeGreaterThanOrEqual(renewals + 2);
    // The first of the two may have been due already.
    expect(Date.now() - sinceMs).toBeGreaterThanOrEqual(RENEW_MS - 100);
  } finally {
    await leases.close();
  }
});

test('a round is due after each renewal with a surplus, until the surplus is handed over', async () => {
  holdLeaseClock();
  await db.pool.query('UPDATE outbox_lease SET holder = NULL');
  let count = 0;
  let dueRounds = 0;
  const leases = new ShardLeases(
    db.reserved,
    silentLog,
    { ...threeOthers(), count: () => count },
    () => {
      dueRounds += 1;
      // The renewal that follows the first handover may take the shards back: the relay then needs a second call.
      if (dueRounds === 3) leases.handOverSurplus();
    },
    LEASE_MS,
  );
  try {
    await expect.poll(() => leases.held().length).toBe(4);
    expect(dueRounds).toBe(1);
    count = 1;
    await expect.poll(heldShards).toBe(2);
    expect(leases.held()).toHaveLength(2);
  } finally {
    await leases.close();
  }
});

test('a relay that cannot publish leaves its shards, and takes them again when no other relay does', async () => {
  holdLeaseClock();
  await db.pool.query('UPDATE outbox_lease SET holder = NULL');
  const others = { ...threeOthers(), count: () => 1 };
  const leases = new ShardLeases(db.reserved, silentLog, others, () => undefined, LEASE_MS);
  try {
    await expect.poll(() => leases.held().length).toBe(2);
    expect(leases.stepBack()).toBe(true);
    expect(others.withdraw).toHaveBeenCalledOnce();
    const announcements = others.announce.mock.calls.length;
    await expect.poll(heldShards).toBe(0);
    expect(leases.held()).toEqual([]);
    expect(others.announce).toHaveBeenCalledTimes(announcements);
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    await expect.poll(() => leases.held().length).toBe(2);
  } finally {
    await leases.close();
  }
}, 30_000);

test('a relay that cannot publish takes no shard whose lease another relay has renewed meanwhile', async () => {
  holdLeaseClock();
  await db.pool.query('UPDATE outbox_lease SET holder = NULL');
  const others = { ...threeOthers(), count: () => 1 };
  const leases = new ShardLeases(db.reserved, silentLog, others, () => undefined, LEASE_MS);
  let renewals = 0;
  const count = () => {
    renewals += 1;
  };
  db.reserved.on('acquire', count);
  const nextRenewals = (times: number) => {
    const after = renewals + times;
    return expect.poll(() => renewals).toBeGreaterThanOrEqual(after);
  };
  try {
    await expect.poll(() => leases.held().length).toBe(2);
    expect(leases.stepBack()).toBe(true);
    const announcements = others.announce.mock.calls.length;
    await expect.poll(heldShards).toBe(0);
    const renewByAnother = 'UPDATE outbox_lease SET holder = gen_random_uuid()';
    await db.pool.query(renewByAnother);
    // The first may have been under way before.
    await nextRenewals(2);
    await db.pool.query(renewByAnother);
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    await nextRenewals(2);
    expect(others.announce).toHaveBeenCalledTimes(announcements);
  } finally {
    db.reserved.off('acquire', count);
    await leases.close();
  }
});

test('a relay without others keeps its shards although it cannot publish', async () => {
  await db.pool.query('UPDATE outbox_lease SET holder = NULL');
  const others = { ...threeOthers(), count: () => 0 };
  const leases = new ShardLeases(db.reserved, silentLog, others, () => undefined, LEASE_MS);
  try {
    await expect.poll(() => leases.held().length).toBe(4);
    expect(leases.stepBack()).toBe(false);
    expect(leases.held()).toHaveLength(4);
  } finally {
    await leases.close();
  }
});

async function heldShards(): Promise<number> {
  const { rowCount } = await db.pool.query('SELECT FROM outbox_lease WHERE holder IS NOT NULL');
  return rowCount ?? 0;
}
