import { runQuery } from '@creditlane/postgres/statement';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { watchSentQueries } from '@creditlane/postgres/test-sent-queries';
import type { PeriodicTask } from '@creditlane/runtime/concurrency/periodic-task';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { endExpiredLeasesQuery } from '../store/pending/leases.ts';
import { insertDeliveries, openDispatcherDatabase } from '../test-deliveries.ts';
import { Backlog } from './backlog.ts';
import type { LeasedDelivery } from './delivery.ts';
import { startMaintainingLeases } from './leases.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openDispatcherDatabase();
});
afterAll(() => database.drop());

/** Deliveries that a process has leased, each in a lane of its own. */
const leaseDeliveries = (count: number): Promise<LeasedDelivery[]> =>
  insertDeliveries(database.sql, Array(count).fill({ leased: true }));

/** Checks each second, in a process without deliveries. */
const startChecking = (backlog = new Backlog(), expiringBefore = () => []): PeriodicTask =>
  startMaintainingLeases({
    pool: database.sql,
    log: silentLog,
    queue: { size: 0, expiringBefore },
    backlog,
    leaseMs: 5_000,
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
  let checking: PeriodicTask;
  const expiringBefore = vi.fn(() => []);
  beforeEach(async () => {
    await database.sql.query('DELETE FROM deliveries');
    checking = startChecking(new Backlog(), expiringBefore);
  });
  afterEach(() => checking.close());

  test('there is no further one within the time of a lease', async () => {
    const sent = watchSentQueries();
    await vi.waitFor(() => expect(expiringBefore).toHaveBeenCalledTimes(3), 15_000);
    const checks = sent().filter(({ name }) => name === 'deliveries_end_leases');
    expect(checks).toHaveLength(1);
  });

  test('a lease that begins then is ended when it has expired', async () => {
    const sent = watchSentQueries();
    await vi.waitFor(() => expect(sent()).not.toEqual([]), 15_000);
    await leaseDeliveries(1);
    await database.sql.query("UPDATE deliveries SET next_attempt_at = now() + interval '5 s'");
    await vi.waitFor(async () => expect(await countLeased()).toBe(0), { timeout: 20_000 });
  });
});
