// What the statements of many deliveries compare: the cost of a batch grows with its size, not with the square of it.
import { randomUUID } from 'node:crypto';
import type { Query } from '@creditlane/postgres/statement';
import { NIL_UUID } from '@creditlane/runtime/ids';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LeasedDelivery } from '../queue/delivery.ts';
import type { AttemptResult } from '../sending/attempt.ts';
import { createTestFixture, type TestFixture } from '../test-fixture.ts';
import { claimDueQuery, releaseLeasesQuery, renewLeasesQuery } from './deliveries.ts';
import { keepQueueStatistics } from './queue-statistics.ts';
import { recordResultsQuery } from './results.ts';

const DELIVERIES = 500;
const LEASE_MS = 60_000;

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
  await (await fixture.start()).close();
});
afterEach(() => fixture.close());

/** Inserts this many deliveries, each to a destination of its own. */
async function insertDeliveries({ leased }: { leased: boolean }): Promise<LeasedDelivery[]> {
  const ids = Array.from({ length: DELIVERIES }, () => randomUUID());
  await fixture.sql.query(
    `INSERT INTO deliveries (id, event_id, destination_id, application_id, sequence, state, leased, fence, next_attempt_at)
     SELECT id, id, id, id, 1, 'due', $2, 1, now() FROM unnest($1::uuid[]) AS id`,
    [ids, leased],
  );
  return ids.map((id) => ({
    ...{ id, fence: 1, attempts: 0, replays: 0, orderingKey: id, destinationId: id, sequence: 1 },
    ...{ event: 'applicationBooked', body: '{}', reference: null, recordedAt: new Date() },
    traceparent: undefined,
  }));
}

interface PlanNode {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Join Filter'?: number;
  Plans?: PlanNode[];
}

function literalOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(literalOf).join(',')}}`;
  return value instanceof Date ? value.toISOString() : String(value);
}

/** How many pairs of rows the statement compared in vain, by the plan that a prepared statement keeps. */
async function countVainComparisons({ config }: Query<unknown>): Promise<number> {
  const service = await fixture
    .connect({ max: 1, options: '-c enable_seqscan=off -c plan_cache_mode=force_generic_plan' })
    .connect();
  try {
    await service.query(`PREPARE batch AS ${config.text}`);
    const values = config.values.map((value) => pg.escapeLiteral(literalOf(value)));
    const { rows } = await service.query(
      `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE batch (${values.join(', ')})`,
    );
    const countOf = (node: PlanNode): number =>
      (node['Rows Removed by Join Filter'] ?? 0) * node['Actual Loops'] +
      (node.Plans ?? []).reduce((sum, child) => sum + countOf(child), 0);
    return countOf(rows[0]['QUERY PLAN'][0].Plan);
  } finally {
    service.release(true);
  }
}

const result = (delivery: LeasedDelivery): AttemptResult => ({
  ...{ delivery, revision: 1, startedAt: new Date(), durationMs: 5, state: 'delivered' },
  outcome: { kind: 'answered', status: 200 },
});

test.each([
  { name: 'a renewal of leases', makeQuery: (leased) => renewLeasesQuery(leased, LEASE_MS) },
  { name: 'a release of leases', makeQuery: (leased) => releaseLeasesQuery(leased, 0) },
  {
    name: 'a record of results',
    makeQuery: (leased) => recordResultsQuery(leased.map(result), LEASE_MS),
  },
] satisfies { name: string; makeQuery(leased: LeasedDelivery[]): Query<unknown> }[])(
  '$name looks each delivery up by its id',
  async ({ makeQuery }) => {
    const leased = await insertDeliveries({ leased: true });
    await keepQueueStatistics(fixture.sql);
    expect(await countVainComparisons(makeQuery(leased))).toBe(0);
  },
);

test('a claim looks the capacity of each destination up by its id', async () => {
  const due = await insertDeliveries({ leased: false });
  await keepQueueStatistics(fixture.sql);
  const capacities = new Map(due.map(({ destinationId }) => [destinationId, 1]));
  const claim = { after: NIL_UUID, capacities, otherCapacity: 5, limit: DELIVERIES };
  expect(await countVainComparisons(claimDueQuery({ ...claim, leaseMs: LEASE_MS }))).toBe(0);
});
