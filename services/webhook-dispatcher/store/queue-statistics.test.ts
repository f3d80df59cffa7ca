import { once } from 'node:events';
import { type Query, runQuery } from '@creditlane/postgres/statement';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { NIL_UUID } from '@creditlane/runtime/ids';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { leasedDelivery, openDispatcherDatabase, resultOf } from '../test-deliveries.ts';
import { claimProbesQuery } from './breakers.ts';
import { claimDueQuery } from './pending/claims.ts';
import { endSliceQuery } from './pending/ends.ts';
import { endExpiredHoldsQuery, lockReplayedLanesQuery, promoteNextQuery } from './pending/lanes.ts';
import {
  endExpiredLeasesQuery,
  hasLeasesQuery,
  releaseLeasesQuery,
  renewLeasesQuery,
} from './pending/leases.ts';
import { keepQueueStatistics, startQueueStatistics } from './queue-statistics.ts';
import { recordResultsQuery } from './results.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await openDispatcherDatabase();
});
afterEach(() => database.drop());

const LEASE_MS = 60_000;

test('statistics that a VACUUM has made short are set at the start, and at once while the queue has deliveries', async () => {
  const vacuum = () => database.sql.query('VACUUM deliveries_queue');
  const plannedRows = async (): Promise<number> => {
    const { rows } = await database.sql.query(
      `SELECT reltuples FROM pg_class WHERE oid = 'deliveries_queue'::regclass`,
    );
    return rows[0].reltuples;
  };
  await vacuum();
  expect(await plannedRows()).toBeLessThan(100);

  // The clock stands still, so that the look every five seconds never comes: only looks of a busy queue count.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  onTestFinished(() => clock.mockRestore());
  const filled = Promise.withResolvers<void>();
  const waitWhileEmpty = vi.fn((stop: AbortSignal) =>
    Promise.race([filled.promise, once(stop, 'abort').then(() => undefined)]),
  );
  const statistics = startQueueStatistics(database.sql, silentLog, { size: 1, waitWhileEmpty });
  onTestFinished(() => statistics.close());
  await expect.poll(() => waitWhileEmpty.mock.calls.length).toBe(1);
  expect(await plannedRows()).toBe(20_000);
  await vacuum();
  // Nothing looks while the queue is empty.
  expect(await plannedRows()).toBeLessThan(100);
  filled.resolve();
  await expect.poll(plannedRows).toBe(20_000);
  await vacuum();
  await expect.poll(plannedRows).toBe(20_000);
});

test.each(['an emptied', 'a new'])(
  'plans that were made for %s queue read few blocks of it when it is long',
  async (kind) => {
    const held = leasedDelivery();
    const { destinationId } = held;
    const claim = { after: NIL_UUID, capacities: new Map(), otherCapacity: 5, limit: 5 };
    const queries: Record<string, Query<unknown>> = {
      claim: claimDueQuery({ ...claim, leaseMs: LEASE_MS }),
      renew: renewLeasesQuery([held], LEASE_MS),
      release: releaseLeasesQuery([held]),
      record: recordResultsQuery([resultOf(held, 200)], LEASE_MS),
      promote: promoteNextQuery([held], LEASE_MS),
      endHolds: endExpiredHoldsQuery(5),
      endLeases: endExpiredLeasesQuery(LEASE_MS, 5),
      findLeases: hasLeasesQuery(LEASE_MS),
      lockReplayed: lockReplayedLanesQuery([held]),
      probe: claimProbesQuery(5, { probeMs: LEASE_MS, leaseMs: LEASE_MS }),
      endSlice: endSliceQuery({
        ...{ destinationId, reason: 'destination_removed', state: 'due', limit: 5 },
        after: { createdAt: '-infinity', id: NIL_UUID },
      }),
    };
    const fillQueue = () =>
      database.sql.query(
        `INSERT INTO deliveries (id, event_id, destination_id, application_id, sequence, state, leased, fence,
         next_attempt_at)
       SELECT gen_random_uuid(), gen_random_uuid(), $1, gen_random_uuid(), 1,
         CASE WHEN n % 4 = 0 THEN 'waiting' ELSE 'due' END, n % 200 = 1, 1,
         CASE WHEN n % 4 > 0 THEN now() + (n % 4 - 2) * interval '1 hour' END
       FROM generate_series(1, 20000) AS n`,
        [destinationId],
      );
    // One connection, as the service opens its own: its plans are kept.
    const service = database.connect({
      max: 1,
      options:
        '-c enable_seqscan=off -c random_page_cost=1.1 -c plan_cache_mode=force_generic_plan',
    });
    // What has left the queue has left its pages there, which VACUUM then finds empty.
    if (kind === 'an emptied') await fillQueue();
    await database.sql.query('DELETE FROM deliveries');
    await database.sql.query('VACUUM ANALYZE deliveries_queue');
    await keepQueueStatistics(service);
    // PostgreSQL plans a statement anew five times before it may keep a plan.
    for (let n = 0; n < 6; n += 1) {
      for (const query of Object.values(queries)) await runQuery(service, query);
    }
    // A burst, before the service looks again whether the queue has grown.
    await fillQueue();
    const blocksRead = async () => {
      await service.query('SELECT pg_stat_force_next_flush()');
      const { rows } = await service.query(
        `SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::int AS blocks
       FROM pg_statio_all_tables WHERE relname = 'deliveries_queue'`,
      );
      return rows[0].blocks as number;
    };
    const expectFewBlocks = async (plans: string) => {
      for (const [name, query] of Object.entries(queries)) {
        const before = await blocksRead();
        await runQuery(service, query);
        const blocks = (await blocksRead()) - before;
        // The queue has some 600 blocks, and its indexes as many; 100 deliveries are leased.
        expect(blocks, `${name}, plans ${plans}`).toBeLessThan(250);
      }
    };
    await expectFewBlocks('kept');
    // PostgreSQL discards plans at any time, as when a connection has missed many changes of catalogs. The next ones are made
    // for as many rows of a page as the statistics of the short queue say, which are far too many.
    await service.query('DISCARD PLANS');
    await expectFewBlocks('made anew');
  },
);
