// The statements of many deliveries look each of them up: the cost of a batch grows with its size, not with the square of
// it, and not with the size of the queue.
import { randomUUID } from 'node:crypto';
import { type Query, runQuery } from '@creditlane/postgres/statement';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { NIL_UUID } from '@creditlane/runtime/ids';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LeasedDelivery } from '../queue/delivery.ts';
import { insertDeliveries, openDispatcherDatabase, resultOf } from '../test-deliveries.ts';
import { claimDueQuery } from './pending/claims.ts';
import { lockReplayedLanesQuery, promoteNextQuery } from './pending/lanes.ts';
import { endExpiredLeasesQuery, releaseLeasesQuery, renewLeasesQuery } from './pending/leases.ts';
import { claimLimitedQuery, saveRatesQuery } from './rates.ts';
import { recordResultsQuery } from './results.ts';

const DELIVERIES = 500;
/** Others in the queue, which no statement is to read. */
const OTHERS = 20_000;
/** As the service's connections. */
const OPTIONS =
  '-c enable_seqscan=off -c random_page_cost=1.1 -c plan_cache_mode=force_generic_plan';
/** How many rows all parts of a plan may read together for each delivery; a claim reads 19. */
const MAX_ROWS_EACH = 40;
const LEASE_MS = 60_000;

let database: TestDatabase;
beforeEach(async () => {
  database = await openDispatcherDatabase();
});
afterEach(() => database.drop());

/** What PostgreSQL's statistics describe. A queue that was emptied keeps its pages; its statistics say that the pages have no rows. */
type Statistics = 'an emptied queue' | 'the queue';

/** Inserts the deliveries, each to a destination of its own, among others that are not due. */
async function fillQueue({
  leased = true,
  statistics = 'an emptied queue',
}: {
  leased?: boolean;
  statistics?: Statistics;
}): Promise<LeasedDelivery[]> {
  const vacuumAndAnalyze = () => database.sql.query('VACUUM ANALYZE deliveries_queue');
  if (statistics === 'an emptied queue') {
    await insertOthers();
    await database.sql.query('DELETE FROM deliveries');
    await vacuumAndAnalyze();
  }
  const deliveries = await insertDeliveries(database.sql, Array(DELIVERIES).fill({ leased }));
  await insertOthers();
  if (statistics === 'the queue') await vacuumAndAnalyze();
  return deliveries;
}

async function insertOthers(): Promise<void> {
  await database.sql.query(
    `INSERT INTO deliveries (id, event_id, destination_id, application_id, sequence, state, leased, fence, next_attempt_at)
     SELECT id, id, $2, id, 1, 'due', false, 1, now() + interval '1 hour'
     FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, $1)) AS other`,
    [OTHERS, randomUUID()],
  );
}

interface PlanNode {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: PlanNode[];
}

function literalOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(literalOf).join(',')}}`;
  return value instanceof Date ? value.toISOString() : String(value);
}

/** Runs the statement by the plan that a prepared statement keeps. */
async function explain({ config }: Query<unknown>) {
  const service = await database.connect({ max: 1, options: OPTIONS }).connect();
  try {
    await service.query(`PREPARE batch AS ${config.text}`);
    const values = config.values.map((value) =>
      value === null ? 'NULL' : pg.escapeLiteral(literalOf(value)),
    );
    const { rows } = await service.query(
      `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE batch (${values.join(', ')})`,
    );
    const plan: PlanNode = rows[0]['QUERY PLAN'][0].Plan;
    return { rows: rowsOf(plan), text: JSON.stringify(plan) };
  } finally {
    service.release(true);
  }
}

/** The rows that all parts of the plan have read. */
function rowsOf(node: PlanNode): number {
  const perLoop =
    node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0);
  const below = (node.Plans ?? []).map(rowsOf);
  return below.reduce((sum, rows) => sum + rows, perLoop * node['Actual Loops']);
}

async function expectLookups(query: Query<unknown>): Promise<void> {
  const { rows, text } = await explain(query);
  expect(rows).toBeLessThan(MAX_ROWS_EACH * DELIVERIES);
  // A list in a condition of a row that was found is searched for each row, and counts no rows.
  expect(text).not.toMatch(/Filter":"[^"]*= ANY \(\$/);
}

const resultsOf = (leased: readonly LeasedDelivery[], status: number) =>
  recordResultsQuery(
    leased.map((delivery) => resultOf(delivery, status)),
    LEASE_MS,
  );

const BATCHES = [
  { name: 'a renewal of leases', makeQuery: (leased) => renewLeasesQuery(leased, LEASE_MS) },
  { name: 'a release of leases', makeQuery: (leased) => releaseLeasesQuery(leased) },
  { name: 'a record of results', makeQuery: (leased) => resultsOf(leased, 200) },
  { name: 'a record of failures', makeQuery: (leased) => resultsOf(leased, 500) },
  { name: 'a lock of lanes', makeQuery: (leased) => lockReplayedLanesQuery(leased) },
  {
    name: 'an end of expired leases',
    makeQuery: ({ length }) => endExpiredLeasesQuery(LEASE_MS, length),
  },
  { name: 'a promotion', makeQuery: (leased) => promoteNextQuery(leased, LEASE_MS) },
] satisfies { name: string; makeQuery(leased: LeasedDelivery[]): Query<unknown> }[];

const STATISTICS: readonly Statistics[] = ['an emptied queue', 'the queue'];

test.each(STATISTICS.flatMap((statistics) => BATCHES.map((batch) => ({ ...batch, statistics }))))(
  'by the statistics of $statistics, $name looks each delivery up',
  async ({ makeQuery, statistics }) => {
    const leased = await fillQueue({ statistics });
    await expectLookups(makeQuery(leased));
  },
);

test.each(STATISTICS)(
  'by the statistics of %s, a claim looks each delivery and the capacity of its destination up',
  async (statistics) => {
    const due = await fillQueue({ leased: false, statistics });
    const capacities = new Map(due.map(({ destinationId }) => [destinationId, 1]));
    const claim = { after: NIL_UUID, capacities, otherCapacity: 5, limit: DELIVERIES };
    await expectLookups(claimDueQuery({ ...claim, leaseMs: LEASE_MS }));
  },
);

test.each(STATISTICS)(
  'by the statistics of %s, a claim of limited destinations looks each of them and its deliveries up',
  async (statistics) => {
    const due = await fillQueue({ leased: false, statistics });
    const destinationIds = due.map(({ destinationId }) => destinationId);
    const rates = destinationIds.map((id) => ({ destinationId: id, revision: 1, perSecond: 5 }));
    await runQuery(database.sql, saveRatesQuery(rates));
    const capacities = new Map(destinationIds.map((id) => [id, 1]));
    const claim = { destinationIds, capacities, otherCapacity: 5, limit: DELIVERIES };
    await expectLookups(claimLimitedQuery({ ...claim, leaseMs: LEASE_MS }));
  },
);
