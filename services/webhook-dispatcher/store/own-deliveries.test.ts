import { createHash, randomUUID } from 'node:crypto';
import { type Queryable, runQuery } from '@creditlane/postgres/statement';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { planOf, rowsFilteredOut } from '@creditlane/postgres/test-plans';
import { NIL_UUID } from '@creditlane/runtime/ids';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DELIVERY_STATE_NAMES } from '../delivery-states.ts';
import { openDispatcherDatabase } from '../test-deliveries.ts';
import { findStoredStateQuery } from './intake/two-round-trip-intake.ts';
import { findOwnDeliveries, type ListQuery } from './own-deliveries.ts';
import { promoteNextQuery } from './pending/lanes.ts';
import { lockEarlierPending } from './replay-delivery.ts';
import { findNextReplayJobs } from './replay-jobs.ts';
import { countReplaySlice, lockLanes, searchReplaySlice } from './replay-slices.ts';

const OWN = randomUUID();
const APPLICATION = randomUUID();
const DELIVERIES = 20_000;

let database: TestDatabase;
let client: pg.PoolClient;
beforeAll(async () => {
  database = await openDispatcherDatabase();
  await database.sql.query(
    `INSERT INTO messages (event_id, event, creditor_id, body, recorded_at)
     SELECT md5(n::text)::uuid, 'applicationBooked', md5('creditor')::uuid, '{}', now()
     FROM generate_series(1, ${DELIVERIES}) AS n`,
  );
  // Half of the deliveries are to the destination. One in a hundred is dead.
  await database.sql.query(
    `INSERT INTO deliveries (id, event_id, destination_id, application_id, sequence, state, leased, fence,
       created_at, settled_at)
     SELECT md5('d' || n)::uuid, md5(n::text)::uuid,
       CASE n % 2 WHEN 0 THEN '${OWN}'::uuid ELSE md5((n % 100)::text)::uuid END,
       CASE n % 10000 WHEN 0 THEN '${APPLICATION}'::uuid ELSE md5((n / 500)::text)::uuid END,
       1, CASE n % 100 WHEN 0 THEN 'dead' ELSE 'delivered' END, false, 0,
       now() - n * interval '1 second', now() - n * interval '1 second'
     FROM generate_series(1, ${DELIVERIES}) AS n`,
  );
  await database.sql.query('ANALYZE');
  client = await database.sql.connect();
});
afterAll(async () => {
  client.release();
  await database.drop();
});

const FIRST_PAGE: ListQuery = {
  destination: { destinationId: OWN, revision: 1 },
  states: DELIVERY_STATE_NAMES,
  events: undefined,
  orderingKey: undefined,
  createdFrom: undefined,
  before: { at: 'infinity', id: NIL_UUID },
  limit: 26,
  maxSearched: 26,
};
/** The id of one of the deliveries to the destination. */
const DELIVERY = createHash('md5')
  .update('d2')
  .digest('hex')
  .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const ANY_TIME = { from: new Date(0), to: 'infinity' } as const;
const LANE = { orderingKey: APPLICATION, destinationId: OWN };
const INTAKE = {
  seriesPosition: undefined,
  orderingKey: APPLICATION,
  recipients: [{ destinationId: OWN, revision: 1 }],
};
const LATER = {
  at: new Date(Date.now() - 3_600_000).toISOString(),
  id: FIRST_PAGE.before.id,
};

test.each<[string, Partial<ListQuery>]>([
  ['the first page', {}],
  ['a later page', { before: LATER }],
  ['a rare state', { states: ['dead'] }],
  ['a state that no delivery has', { states: ['waiting'] }],
  ['a time range', { createdFrom: new Date(Date.now() - 7_200_000), before: LATER }],
  ['an application', { orderingKey: APPLICATION, events: ['applicationBooked'], maxSearched: 500 }],
  ['an event that no delivery has', { events: ['applicationDeclined'], maxSearched: 500 }],
])('%s of a long list is read through an index, without a sequential scan', async (_, change) => {
  for (const planFor of ['own', 'any'] as const) {
    const query = { ...FIRST_PAGE, ...change };
    const plan = await planOf(client, (db) => findOwnDeliveries(db, query), planFor);
    expect(plan).toMatch(/Index Scan (Backward )?(using|on) deliveries_(by_destination|lane)/);
    expect(plan).not.toMatch(/Seq Scan on (deliveries|messages)/);
    expect(rowsFilteredOut(plan), plan).toBeLessThanOrEqual(500);
  }
});

// The statistics say that no delivery is pending, as after the analysis of a table whose queue was empty.
test.each<[string, (db: Queryable) => Promise<unknown>]>([
  ['the intake', (db) => runQuery(db, findStoredStateQuery([INTAKE]))],
  ['a promotion', (db) => runQuery(db, promoteNextQuery([LANE], 1_000))],
  ['a replay', (db) => lockEarlierPending(db, DELIVERY, OWN)],
  ['a slice of a replay', (db) => lockLanes(db, OWN, [DELIVERY], ANY_TIME)],
])('%s finds the pending delivery of a lane through the index of lanes alone', async (_, run) => {
  for (const planFor of ['own', 'any'] as const) {
    const plan = await planOf(client, run, planFor);
    expect(plan).toContain('deliveries_lane');
    expect(plan).not.toContain('deliveries_by_destination');
  }
});

describe('a slice of a replay of many deliveries', () => {
  /** A job whose cursor is in the middle of the destination's deliveries. */
  async function addJob(deliveryState: 'dead' | 'delivered', event: string | null) {
    const { rows } = await database.sql.query(
      `INSERT INTO replay_jobs (id, integration_id, destination_id, delivery_state, event,
         cursor_created_at, cursor_id, finished_at)
       SELECT gen_random_uuid(), $1, $1, $2, $3, now() - interval '${DELIVERIES / 2} seconds', $1, now()
       RETURNING id`,
      [OWN, deliveryState, event],
    );
    return rows[0].id as string;
  }

  test.each([
    ['delivered', null],
    ['delivered', 'applicationDeclined'],
    ['dead', null],
  ] as const)('of %s ones with event %s is read in the order of an index', async (state, event) => {
    const id = await addJob(state, event);
    for (const read of [searchReplaySlice, countReplaySlice]) {
      // The service plans for any values. With the job's, PostgreSQL may sort all that is after the cursor.
      const plan = await planOf(client, (db) => read(db, id, 100), 'any');
      // The scan ends with the slice, though half of the deliveries are after the cursor.
      expect(plan).toMatch(/Index Scan using deliveries_by_destination .*actual.* rows=\d{1,3}\b/);
      expect(plan).not.toMatch(/Seq Scan on (deliveries|messages)/);
      expect(rowsFilteredOut(plan), plan).toBeLessThanOrEqual(3);
    }
  });

  test('that is counted is followed by that of the job that waits longest', async () => {
    const waiting = [randomUUID(), randomUUID()] as const;
    await database.sql.query(
      `INSERT INTO replay_jobs (id, integration_id, destination_id, delivery_state, state, cursor_created_at,
         cursor_id, next_slice_at)
       VALUES ($1, $3, $3, 'delivered', 'counting', '-infinity', $3, now() - interval '2 s'),
         ($2, $3, $4, 'dead', 'running', '-infinity', $3, now() - interval '1 s')`,
      [...waiting, OWN, randomUUID()],
    );
    expect((await findNextReplayJobs(database.sql, 2)).map(({ id }) => id)).toEqual(waiting);
    await countReplaySlice(database.sql, waiting[0], 10);
    const next = await findNextReplayJobs(database.sql, 2);
    expect(next.map(({ id }) => id)).toEqual(waiting.toReversed());
  });

  test('is locked through indexes', async () => {
    const { rows } = await database.sql.query(
      'SELECT id FROM deliveries WHERE destination_id = $1 LIMIT 25',
      [OWN],
    );
    const ids = rows.map(({ id }) => id);
    for (const planFor of ['own', 'any'] as const) {
      const plan = await planOf(client, (db) => lockLanes(db, OWN, ids, ANY_TIME), planFor);
      expect(plan).not.toMatch(/Seq Scan on deliveries/);
    }
  });
});
