import { randomUUID } from 'node:crypto';
import { runPurge } from '@creditlane/postgres/retention';
import { type Query, runQuery } from '@creditlane/postgres/statement';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { inTransaction } from '@creditlane/postgres/transaction';
import { NIL_UUID } from '@creditlane/runtime/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { insertDelivery, openDispatcherDatabase } from '../test-deliveries.ts';
import { upTo } from '../test-fixture.ts';
import {
  claimProbesQuery,
  closeBreakersQuery,
  failProbesQuery,
  giveBackProbesQuery,
  listBreakersQuery,
  openBreakersQuery,
  purgeBreakers,
  requestProbesQuery,
} from './breakers.ts';
import { pauseDestination, resumeDestination } from './pauses.ts';
import { claimDueQuery } from './pending/claims.ts';

let database: TestDatabase;
let destinationId: string;
beforeAll(async () => {
  database = await openDispatcherDatabase();
});
beforeEach(async () => {
  await database.sql.query('TRUNCATE open_breakers, deliveries, destination_states');
  destinationId = randomUUID();
});
afterAll(() => database?.drop());

const PROBE_ID = randomUUID();

/** Inserts an open breaker whose probe is due, or under way. */
const insertOpen = ({ failures = 0, probeId = null as string | null } = {}) =>
  database.sql.query(`INSERT INTO open_breakers VALUES ($1, 1, $2, now(), $3)`, [
    destinationId,
    failures,
    probeId,
  ]);

const insertDue = (leased = false, attempts = 0) =>
  insertDelivery(database.sql, {
    ...{ destinationId, leased, fence: 0, attempts },
    nextAttemptAt: new Date(Date.now() + (leased ? 3_600_000 : 0)),
  });

const claimProbes = (limit = 10) =>
  runQuery(database.sql, claimProbesQuery(limit, { probeMs: 60_000, leaseMs: 60_000 }));

/** The breaker after the query, with the time until its next probe. */
function breakerAfter(query: Query<unknown>) {
  return inTransaction(database.sql, async (tx) => {
    await runQuery(tx, query);
    const { rows } = await tx.query(
      `SELECT extract(epoch FROM probe_at - now())::float8 AS "pauseS", failures, revision,
         probe_id AS "probeId" FROM open_breakers`,
    );
    return rows[0];
  });
}

describe('an open circuit breaker', () => {
  test.each([
    [0, 2],
    [3, 16],
    [6, 120],
    [5_000, 120],
  ])(
    'whose probe fails after %i others stays open for %i seconds, ±20 %%',
    async (failures, seconds) => {
      await insertOpen({ failures, probeId: PROBE_ID });
      const after = await breakerAfter(failProbesQuery(new Map([[destinationId, PROBE_ID]])));
      expect(after).toMatchObject({ failures: failures + 1, probeId: null });
      expect(after.pauseS).toBeGreaterThanOrEqual(0.8 * seconds);
      expect(after.pauseS).toBeLessThanOrEqual(1.2 * seconds);
    },
  );

  test('when another probe has taken the place of the one that failed, stays as it is', async () => {
    await insertOpen({ probeId: randomUUID() });
    const after = await breakerAfter(failProbesQuery(new Map([[destinationId, PROBE_ID]])));
    expect(after.failures).toBe(0);
  });

  test('whose probe was not sent may be tried again after a second, unless another probe is under way', async () => {
    await insertOpen({ failures: 3, probeId: PROBE_ID });
    const giveBack = (id: string) => giveBackProbesQuery(new Map([[destinationId, id]]));
    expect(await breakerAfter(giveBack(randomUUID()))).toMatchObject({ probeId: PROBE_ID });
    const after = await breakerAfter(giveBack(PROBE_ID));
    expect(after).toEqual({ failures: 3, pauseS: 1, probeId: null, revision: 1 });
  });

  test('when another process opens it, stays as it is', async () => {
    await insertOpen({ failures: 7 });
    const after = await breakerAfter(openBreakersQuery(new Map([[destinationId, 1]])));
    expect(after.failures).toBe(7);
  });

  test('when its owner asks for it, is tried at once, at the later revision', async () => {
    await insertOpen({ failures: 7 });
    await database.sql.query(`UPDATE open_breakers SET probe_at = now() + interval '1 hour'`);
    const after = await breakerAfter(requestProbesQuery(new Map([[destinationId, 2]])));
    expect(after).toEqual({ failures: 0, pauseS: 0, probeId: null, revision: 2 });
  });

  test('whose probe is due is tried by one of many replicas, by one delivery', async () => {
    await insertOpen();
    await insertDue();
    await insertDue();
    const claimed = (await Promise.all(upTo(8).map(() => claimProbes()))).flat();
    expect(claimed).toEqual([expect.objectContaining({ destinationId, fence: 1, attempts: 0 })]);
    expect(await runQuery(database.sql, listBreakersQuery())).toEqual([
      {
        destinationId,
        revision: 1,
        isDue: false,
        isProbed: true,
        isPaused: false,
        isUntried: false,
      },
    ]);
  });

  test('is tried by a delivery that has not failed before, where one is due', async () => {
    await insertOpen();
    for (const attempts of [1, 3]) await insertDue(false, attempts);
    await insertDue();
    expect(await claimProbes()).toMatchObject([{ attempts: 0 }]);
  });

  test('is tried by one that has failed, where no other is due', async () => {
    await insertOpen();
    for (const attempts of [2, 1]) await insertDue(false, attempts);
    expect(await claimProbes()).toMatchObject([{ attempts: 2 }]);
  });

  test('is not tried while nothing is due to its destination, while it is too early, or without a slot', async () => {
    await insertOpen();
    await insertDue(true);
    expect(await claimProbes()).toEqual([]);
    await insertDue();
    expect(await claimProbes(0)).toEqual([]);
    await database.sql.query(`UPDATE open_breakers SET probe_at = now() + interval '1 hour'`);
    expect(await claimProbes()).toEqual([]);
  });

  test('keeps the deliveries to its destination from being claimed until it is closed', async () => {
    await insertOpen();
    await insertDue();
    const claim = () => {
      const request = { capacities: new Map(), otherCapacity: 1, limit: 10, leaseMs: 60_000 };
      return runQuery(database.sql, claimDueQuery({ after: NIL_UUID, ...request }));
    };
    expect(await claim()).toEqual([]);
    await runQuery(database.sql, closeBreakersQuery([destinationId, randomUUID()]));
    expect(await claim()).toHaveLength(1);
  });
});

describe('the circuit breaker of a paused destination', () => {
  const revisions = () => new Map([[destinationId, 2]]);
  const pause = () =>
    inTransaction(database.sql, (tx) => pauseDestination(tx, { destinationId, revision: 1 }, 1));

  test.each<[string, () => Query<unknown>]>([
    ['a success', () => closeBreakersQuery([destinationId])],
    ['a probe that is requested', () => requestProbesQuery(revisions())],
    ['the failure of a probe', () => failProbesQuery(new Map([[destinationId, PROBE_ID]]))],
    ['a probe that was not sent', () => giveBackProbesQuery(new Map([[destinationId, PROBE_ID]]))],
    ['its opening', () => openBreakersQuery(revisions())],
  ])('stays open without a probe until the end of the pause, after %s', async (_, change) => {
    await insertOpen({ probeId: PROBE_ID });
    await insertDue();
    await pause();
    const { pauseS, probeId } = await breakerAfter(change());
    expect(pauseS).toBeGreaterThan(3_590);
    expect(probeId).toBeNull();
    expect(await claimProbes()).toEqual([]);
    expect(await runQuery(database.sql, listBreakersQuery())).toMatchObject([
      { destinationId, isDue: false, isProbed: false, isPaused: true, isUntried: false },
    ]);
  });

  test('has no probe before the end of the pause, although an earlier version has made one due', async () => {
    await insertDue();
    await pause();
    await database.sql.query('UPDATE open_breakers SET probe_at = now()');
    expect(await claimProbes()).toEqual([]);
    expect(await runQuery(database.sql, listBreakersQuery())).toMatchObject([{ isDue: false }]);
    await database.sql.query('UPDATE open_breakers SET paused_until = now()');
    expect(await claimProbes()).toHaveLength(1);
  });

  test('has a probe due at once when the destination is resumed, and stays as it is when that is not paused', async () => {
    await insertDue();
    await pause();
    await inTransaction(database.sql, (tx) => resumeDestination(tx, destinationId));
    expect(await claimProbes()).toHaveLength(1);
    await database.sql.query(`UPDATE open_breakers SET probe_at = now() + interval '1 minute'`);
    await inTransaction(database.sql, (tx) => resumeDestination(tx, destinationId));
    expect(await claimProbes()).toEqual([]);
  });
});

test.each([
  ['failed before the pause, is kept for the time without a success', '3 days', 1],
  ['failed since the pause only, is deleted', '1 hour', 0],
])(
  'the row of a pause that ended a day ago, of a destination that %s',
  async (_, failingFor, kept) => {
    await database.sql.query(
      `INSERT INTO open_breakers (destination_id, revision, failures, probe_at, paused_until)
     VALUES ($1, 1, 0, now() - interval '25 hours', now() - interval '25 hours')`,
      [destinationId],
    );
    await database.sql.query(
      'INSERT INTO destination_states (destination_id, failing_since) VALUES ($1, now() - $2::interval)',
      [destinationId, failingFor],
    );
    expect(await runPurge(database.sql, purgeBreakers)).toBe(1 - kept);
  },
);

test('the time of a row that is changed while it is purged is compared again, beside its ctid', async () => {
  const { rows } = await inTransaction(database.sql, async (tx) => {
    await tx.query('SET LOCAL enable_seqscan = off');
    return tx.query(`EXPLAIN ${purgeBreakers.text}`);
  });
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toMatch(/Tid Scan on open_breakers [^>]*Filter: \(probe_at < /);
});
