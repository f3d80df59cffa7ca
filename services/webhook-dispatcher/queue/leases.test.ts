import { runQuery } from '@creditlane/postgres/statement';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { watchSentQueries } from '@creditlane/postgres/test-sent-queries';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { renewLeasesQuery } from '../store/pending/leases.ts';
import { insertDeliveries, openDispatcherDatabase } from '../test-deliveries.ts';
import { Backlog } from './backlog.ts';
import type { LeasedDelivery } from './delivery.ts';
import type { QueueEntry } from './destination-queue.ts';
import { startMaintainingLeases } from './leases.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openDispatcherDatabase();
});
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
    leaseMs: 5_000,
  });
  await vi.waitFor(() => expect(entries.every((it) => it.leasedUntilMs > 0)).toBe(true), 15_000);
  await renewal.close();
  const renewals = sent().filter(({ name }) => name === 'deliveries_renew');
  const sizes = renewals.map(({ values: [ids] }) => String(ids).split(',').length);
  expect(sizes.slice(0, 3)).toEqual([100, 100, 50]);
});
