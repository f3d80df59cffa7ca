import { runQuery } from '@creditlane/postgres/statement';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { watchSentQueries } from '@creditlane/postgres/test-sent-queries';
import type { PeriodicTask } from '@creditlane/runtime/concurrency/periodic-task';
import { silentLog } from '@creditlane/runtime/test-log';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { endExpiredLeasesQuery, renewLeasesQuery } from '../store/pending/leases.ts';
import { insertDeliveries, openDispatcherDatabase } from '../test-deliveries.ts';
import { Backlog } from './backlog.ts';
import type { LeasedDelivery } from './delivery.ts';
import type { QueueEntry } from './destination-queue.ts';
import { startMaintainingLeases } from './leases.ts';

/** Leases are renewed, and expired ones ended, five times in this time. */
const LEASE_MS = 1_500;

let database: TestDatabase;
beforeAll(async () => {
  database = await openDispatcherDatabase();
});
beforeEach(() => database.sql.query('TRUNCATE deliveries, destination_states'));
afterAll(() => database.drop());

/** Deliveries that this process has leased, each in a lane of its own. */
const leaseDeliveries = (count: number): Promise<LeasedDelivery[]> =>
  insertDeliveries(database.sql, Array(count).fill({ leased: true }));

test('a delivery that another transaction has locked keeps no other lease from being renewed', async () => {
  const [locked, other, lost] = await leaseDeliveries(3);
  if (!locked || !other || !lost) throw new Error('three were inserted');
  const holder = await database.sql.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM deliveries WHERE id = $1 FOR UPDATE', [locked.id]);
  const held = [locked, other, { ...lost, fence: 0 }];
  const renewed = await runQuery(database.sql, renewLeasesQuery(held, 60_000));
  await holder.query('ROLLBACK');
  holder.release();
  expect(renewed.get(locked.id)).toBe(false);
  expect(renewed.get(other.id)).toBe(true);
  expect(renewed.has(lost.id)).toBe(false);
});

test('the lease of a delivery to a disabled destination is not renewed', async () => {
  const [disabled] = await leaseDeliveries(1);
  if (!disabled) throw new Error('one was inserted');
  await database.sql.query(
    'INSERT INTO destination_states (destination_id, disabled_at) VALUES ($1, now())',
    [disabled.destinationId],
  );
  const renewed = await runQuery(database.sql, renewLeasesQuery([disabled], 60_000));
  expect(renewed.size).toBe(0);
});

test('leases are renewed 100 at a time, so that results wait for the rows of few', async () => {
  const sent = watchSentQueries();
  const leased = await leaseDeliveries(250);
  const entries = leased.map((delivery) => ({ delivery, leasedUntilMs: 0 })) as QueueEntry[];
  const queue = {
    size: 250,
    expiringBefore: (ms: number) => entries.filter(({ leasedUntilMs }) => leasedUntilMs < ms),
  };
  const renewal = startMaintainingLeases({
    pool: database.sql,
    log: silentLog,
    queue,
    backlog: new Backlog(),
    leaseMs: LEASE_MS,
  });
  await vi.waitFor(() => expect(entries.every((it) => it.leasedUntilMs > 0)).toBe(true), 15_000);
  await renewal.close();
  const renewals = sent().filter(({ name }) => name === 'deliveries_renew');
  const sizes = renewals.map(({ values: [ids] }) => String(ids).split(',').length);
  expect(sizes.slice(0, 3)).toEqual([100, 100, 50]);
});

/** Checks, in a process without deliveries. */
const startChecking = (backlog = new Backlog(), expiringBefore = () => []): PeriodicTask =>
  startMaintainingLeases({
    pool: database.sql,
    log: silentLog,
    queue: { size: 0, expiringBefore },
    backlog,
    leaseMs: LEASE_MS,
  });

const countLeased = async () =>
  (await database.sql.query('SELECT FROM deliveries WHERE leased')).rowCount;

test('expired leases end as far back as is checked, and those that last do not', async () => {
  const [long, short, lasting] = await leaseDeliveries(3);
  if (!long || !short || !lasting) throw new Error('three were inserted');
  await database.sql.query(
    `UPDATE deliveries SET next_attempt_at = now() + s * interval '1 s'
     FROM (VALUES ($1::uuid, -60), ($2, -1), ($3, 60)) AS it (id, s) WHERE it.id = deliveries.id`,
    [long.id, short.id, lasting.id],
  );
  const destinationsOf = async (withinMs: number) =>
    (await runQuery(database.sql, endExpiredLeasesQuery(withinMs, 10))).destinationIds;
  expect(await destinationsOf(15_000)).toContain(short.destinationId);
  expect(await destinationsOf(120_000)).toEqual([long.destinationId]);
  const { rows } = await database.sql.query('SELECT leased FROM deliveries WHERE id = $1', [
    lasting.id,
  ]);
  expect(rows).toEqual([{ leased: true }]);
});

test('more leases that expired long ago than end at once all end without a pause between', async () => {
  const [first] = await leaseDeliveries(1_500);
  await database.sql.query(
    "UPDATE deliveries SET next_attempt_at = now() - interval '1 minute' WHERE leased",
  );
  const backlog = new Backlog();
  const checking = startChecking(backlog);
  await vi.waitFor(async () => expect(await countLeased()).toBe(0), { timeout: 20_000 });
  await checking.close();
  expect(backlog.mayInclude(first?.destinationId ?? '')).toBe(true);
});

describe('after a check that found no lease', () => {
  const checksOf = (sent: ReturnType<typeof watchSentQueries>) =>
    sent().filter(({ name }) => name === 'deliveries_end_leases').length;

  test('there is no further one within the time of a lease', async () => {
    // The clock is held: a further check is due when the machine pauses this process for the time of a lease.
    const nowMs = performance.now();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(nowMs);
    const sent = watchSentQueries();
    const expiringBefore = vi.fn(() => []);
    const checking = startChecking(new Backlog(), expiringBefore);
    onTestFinished(() => checking.close());
    const rounds = () => expiringBefore.mock.calls.length;
    await expect.poll(rounds).toBeGreaterThanOrEqual(3);
    expect(checksOf(sent)).toBe(1);
    clock.mockReturnValue(nowMs + LEASE_MS);
    await expect.poll(() => checksOf(sent)).toBe(2);
  });

  test('a lease that begins then is ended when it has expired', async () => {
    const sent = watchSentQueries();
    const checking = startChecking();
    onTestFinished(() => checking.close());
    await expect.poll(() => checksOf(sent)).toBeGreaterThan(0);
    await leaseDeliveries(1);
    await database.sql.query("UPDATE deliveries SET next_attempt_at = now() + interval '1.5 s'");
    await vi.waitFor(async () => expect(await countLeased()).toBe(0), { timeout: 20_000 });
  });
});
