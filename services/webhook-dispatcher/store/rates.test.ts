import { randomUUID } from 'node:crypto';
import { runPurge } from '@creditlane/postgres/retention';
import { runQuery } from '@creditlane/postgres/statement';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { inTransaction } from '@creditlane/postgres/transaction';
import { NIL_UUID } from '@creditlane/runtime/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { insertDeliveries, openDispatcherDatabase } from '../test-deliveries.ts';
import { upTo } from '../test-fixture.ts';
import { claimDueQuery } from './pending/claims.ts';
import {
  claimLimitedQuery,
  type LimitedClaimRequest,
  listRatesQuery,
  purgeRates,
  removeRatesQuery,
  saveRatesQuery,
  takePermitQuery,
} from './rates.ts';

let database: TestDatabase;
let destinationId: string;
beforeAll(async () => {
  database = await openDispatcherDatabase();
});
beforeEach(async () => {
  await database.sql.query(
    'TRUNCATE destination_rates, deliveries, open_breakers, destination_states',
  );
  destinationId = randomUUID();
});
afterAll(() => database?.drop());

const save = (perSecond: number, { id = destinationId, revision = 1 } = {}) =>
  runQuery(database.sql, saveRatesQuery([{ destinationId: id, revision, perSecond }]));

const addDue = (count: number, id = destinationId) =>
  insertDeliveries(database.sql, Array(count).fill({ destinationId: id, fence: 0 }));

const claimQuery = (request: Partial<LimitedClaimRequest> = {}) =>
  claimLimitedQuery({
    ...{ destinationIds: [destinationId], capacities: new Map(), otherCapacity: 1_000 },
    ...{ limit: 1_000, leaseMs: 60_000 },
    ...request,
  });

async function claim(request: Partial<LimitedClaimRequest> = {}) {
  const { deliveries, rates } = await runQuery(database.sql, claimQuery(request));
  return { count: deliveries.length, nextInMs: rates[0]?.nextInMs, rates };
}

/** As if so much time had passed. */
const pass = (ms: number) =>
  database.sql.query(`UPDATE destination_rates SET full_at = full_at - $1 * interval '1 ms'`, [ms]);

/** A few milliseconds pass between two statements, and many on a busy machine. */
const about = (ms: number) => expect.closeTo(ms, -2);

describe('a claim for a limited destination', () => {
  test.each([
    { perSecond: 1, burst: 1, everyMs: 1_300 },
    { perSecond: 2, burst: 1, everyMs: 500 },
    { perSecond: 20, burst: 10, everyMs: 50 },
    { perSecond: 1_000, burst: 500, everyMs: 1 },
  ])(
    'at $perSecond in a second brings $burst at once, and one more in $everyMs ms',
    async ({ perSecond, burst, everyMs }) => {
      await save(perSecond);
      await addDue(1_000);
      // In one transaction, whose time stands still.
      await inTransaction(database.sql, async (tx) => {
        const first = await runQuery(tx, claimQuery());
        expect(first.deliveries).toHaveLength(burst);
        expect(first.rates).toEqual([{ destinationId, claimed: burst, nextInMs: everyMs }]);
        const next = await runQuery(tx, claimQuery());
        expect(next).toEqual({
          deliveries: [],
          rates: [{ destinationId, claimed: 0, nextInMs: everyMs }],
        });
        await tx.query(`UPDATE destination_rates SET full_at = full_at - $1 * interval '1 ms'`, [
          3 * everyMs,
        ]);
        const later = await runQuery(tx, claimQuery());
        expect(later.deliveries).toHaveLength(Math.min(3, burst));
      });
    },
  );

  test('brings no more than the burst after hours without one', async () => {
    await save(4);
    await addDue(10);
    await pass(3_600_000);
    expect(await claim()).toMatchObject({ count: 2, nextInMs: about(250) });
  });

  test('brings no more than the capacity, and leaves the other permits', async () => {
    await save(20);
    await addDue(20);
    expect(await claim({ capacities: new Map([[destinationId, 3]]) })).toMatchObject({
      count: 3,
      nextInMs: 0,
    });
    expect(await claim({ otherCapacity: 0 })).toMatchObject({ count: 0, nextInMs: 0 });
    expect(await claim({ limit: 2 })).toMatchObject({ count: 2, nextInMs: 0 });
    expect((await claim()).count).toBeGreaterThanOrEqual(5);
  });

  test('is shared by replicas that claim at the same time', async () => {
    await save(20);
    await addDue(100);
    const startedMs = performance.now();
    const claimed = await Promise.all(upTo(8).map(() => claim()));
    // With each 50 ms a permit is regained.
    const regained = (performance.now() - startedMs) / 50;
    const total = claimed.reduce((sum, { count }) => sum + count, 0);
    expect(total).toBeGreaterThanOrEqual(1);
    expect(total).toBeLessThanOrEqual(10 + regained);
  });

  test('while another replica claims for it, brings nothing, and is to be repeated', async () => {
    await save(20);
    await addDue(1);
    await inTransaction(database.sql, async (tx) => {
      await tx.query('SELECT FROM destination_rates FOR UPDATE');
      expect(await claim()).toMatchObject({ count: 0, nextInMs: 1 });
    });
    expect((await claim()).count).toBe(1);
  });

  test('passes over destinations without a due delivery, and those that nothing is sent to', async () => {
    const [idle, paused, disabled] = [randomUUID(), randomUUID(), randomUUID()];
    for (const id of [destinationId, idle, paused, disabled]) await save(20, { id });
    for (const id of [destinationId, paused, disabled]) await addDue(1, id);
    await insertDeliveries(database.sql, [
      { destinationId: idle, nextAttemptAt: new Date(Date.now() + 60_000) },
    ]);
    await database.sql.query('INSERT INTO open_breakers VALUES ($1, 1, 0, now())', [paused]);
    await database.sql.query(
      'INSERT INTO destination_states (destination_id, disabled_at) VALUES ($1, now())',
      [disabled],
    );
    const { rates } = await claim({ destinationIds: [idle, paused, destinationId, disabled] });
    expect(rates).toEqual([{ destinationId, claimed: 1, nextInMs: 0 }]);
  });

  test('brings those of the destinations that it names', async () => {
    const other = randomUUID();
    for (const id of [destinationId, other]) {
      await save(20, { id });
      await addDue(1, id);
    }
    const { rates } = await claim({ destinationIds: [other] });
    expect(rates.map((it) => it.destinationId)).toEqual([other]);
  });

  test('goes on when the database’s clock was set back by hours', async () => {
    await save(20);
    await addDue(20);
    await pass(-2 * 3_600_000);
    expect((await claim()).count).toBe(10);
    expect(await claim()).toMatchObject({ nextInMs: about(50) });
  });
});

test('a claim for all destinations leaves limited ones out, until they have no limit', async () => {
  const other = randomUUID();
  await save(20);
  await addDue(1);
  await addDue(1, other);
  const claimDue = async () => {
    const rest = { after: NIL_UUID, capacities: new Map(), otherCapacity: 10 };
    const due = await runQuery(
      database.sql,
      claimDueQuery({ ...rest, limit: 10, leaseMs: 60_000 }),
    );
    return due.map((it) => it.destinationId);
  };
  expect(await claimDue()).toEqual([other]);
  await runQuery(database.sql, removeRatesQuery(new Map([[destinationId, 2]])));
  expect(await claimDue()).toEqual([destinationId]);
});

test('permits that are waited for follow one another, and nobody waits longer than it may', async () => {
  await save(1);
  await addDue(1);
  await inTransaction(database.sql, async (tx) => {
    const take = (maxWaitMs: number) => runQuery(tx, takePermitQuery(destinationId, maxWaitMs));
    expect(await take(0)).toBe(0);
    expect(await take(1_000)).toBeUndefined();
    expect(await take(2_000)).toBe(1_300);
    expect(await take(2_000)).toBeUndefined();
    const { rates } = await runQuery(tx, claimQuery());
    expect(rates).toEqual([{ destinationId, claimed: 0, nextInMs: 2_600 }]);
  });
});

test('a destination without a limit has no permits', async () => {
  expect(await runQuery(database.sql, takePermitQuery(destinationId, 1_000))).toBeUndefined();
});

test('the limit of the latest revision stays, whatever the order of the writes', async () => {
  const stored = () => runQuery(database.sql, listRatesQuery());
  await save(20, { revision: 2 });
  await save(10, { revision: 1 });
  await runQuery(database.sql, removeRatesQuery(new Map([[destinationId, 1]])));
  expect(await stored()).toEqual([{ destinationId, revision: 2, perSecond: 20 }]);
  await save(30, { revision: 3 });
  expect(await stored()).toEqual([{ destinationId, revision: 3, perSecond: 30 }]);
  await runQuery(database.sql, removeRatesQuery(new Map([[destinationId, 4]])));
  expect(await stored()).toEqual([]);
});

test('a changed limit keeps what was taken of the one before', async () => {
  await addDue(20);
  const saveQuery = (revision: number, perSecond: number) =>
    saveRatesQuery([{ destinationId, revision, perSecond }]);
  // In one transaction, whose time stands still.
  await inTransaction(database.sql, async (tx) => {
    await runQuery(tx, saveQuery(1, 20));
    expect((await runQuery(tx, claimQuery())).deliveries).toHaveLength(10);
    await runQuery(tx, saveQuery(2, 10));
    expect(await runQuery(tx, claimQuery())).toEqual({
      deliveries: [],
      rates: [{ destinationId, claimed: 0, nextInMs: 100 }],
    });
  });
});

test('a limit that no permit was taken of for a day is deleted', async () => {
  await save(20);
  await pass(23 * 3_600_000);
  expect(await runPurge(database.sql, purgeRates)).toBe(0);
  await pass(2 * 3_600_000);
  expect(await runPurge(database.sql, purgeRates)).toBe(1);
});
