import { randomUUID } from 'node:crypto';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  insertDeliveries,
  insertDelivery,
  openDispatcherDatabase,
  type TestDelivery,
} from '../test-deliveries.ts';
import { countBacklog, longestDueS } from './gauges.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openDispatcherDatabase();
});
beforeEach(async () => {
  await database.sql.query(
    'TRUNCATE deliveries, destination_states, open_breakers, destination_rates',
  );
});
afterAll(() => database?.drop());

/** Inserts a delivery that has been due for so many seconds; a negative number is one that is due later. */
const insertDue = (seconds: number, delivery: TestDelivery = {}) =>
  insertDelivery(database.sql, {
    nextAttemptAt: new Date(Date.now() - seconds * 1_000),
    ...delivery,
  });

/** Inserts so many deliveries that became dead so many days ago. */
const insertDead = (count: number, days: number) =>
  insertDeliveries(
    database.sql,
    Array(count).fill({ state: 'dead', settledAt: new Date(Date.now() - days * 86_400_000) }),
  );

const longestDue = async () => Math.floor(await longestDueS(database.sql));

test('nothing is due for long without deliveries, and with those of later', async () => {
  expect(await longestDue()).toBe(0);
  await insertDue(-600);
  await insertDue(-600, { leased: true });
  expect(await longestDue()).toBe(0);
});

test.each([false, true])(
  'of due deliveries, leased: %s, the longest time counts',
  async (leased) => {
    await insertDue(4_000, { leased });
    await insertDue(600);
    await insertDue(-600, { leased });
    expect((await longestDue()) - 4_000).toBeLessThan(60);
    expect(await longestDue()).toBeGreaterThanOrEqual(4_000);
  },
);

test('a delivery that waits for its disabled destination to be enabled does not count', async () => {
  const destinationId = randomUUID();
  await insertDue(4_000, { destinationId });
  await database.sql.query(
    `INSERT INTO destination_states (destination_id, disabled_at, disabled_reason) VALUES ($1, now(), 'gone')`,
    [destinationId],
  );
  expect(await longestDue()).toBe(0);
});

describe('deliveries to a paused destination', () => {
  const destinationId = randomUUID();
  const pauseUntil = (seconds: number) =>
    database.sql.query(
      `INSERT INTO open_breakers (destination_id, revision, failures, probe_at, paused_until)
       VALUES ($1, 1, 0, now(), now() + $2 * interval '1 s')`,
      [destinationId, seconds],
    );

  test('do not count while it is paused', async () => {
    await insertDue(4_000, { destinationId });
    await pauseUntil(600);
    expect(await longestDue()).toBe(0);
    await insertDue(60);
    expect((await longestDue()) - 60).toBeLessThan(60);
  });

  test('count from the end of the pause', async () => {
    await insertDue(4_000, { destinationId });
    await pauseUntil(-600);
    expect((await longestDue()) - 600).toBeLessThan(60);
    expect(await longestDue()).toBeGreaterThanOrEqual(600);
  });
});

describe('deliveries to a destination with a rate limit', () => {
  const destinationId = randomUUID();
  /** All permits of the destination are regained in so many seconds; a negative number is a time that has passed. */
  const regainPermitsIn = (seconds: number) =>
    database.sql.query(
      `INSERT INTO destination_rates VALUES ($1, 1, 1, now() + $2 * interval '1 s')`,
      [destinationId, seconds],
    );

  test('do not count while its permits are taken', async () => {
    await insertDue(4_000, { destinationId });
    await regainPermitsIn(9);
    expect(await longestDue()).toBe(0);
    await insertDue(60);
    expect((await longestDue()) - 60).toBeLessThan(60);
  });

  test('count since none was taken', async () => {
    await insertDue(4_000, { destinationId });
    await regainPermitsIn(-600);
    expect((await longestDue()) - 600).toBeLessThan(60);
    expect(await longestDue()).toBeGreaterThanOrEqual(600);
  });
});

test('deliveries are counted by state, dead ones of all days together up to a limit', async () => {
  const counts = async () => {
    const rows = await countBacklog(database.sql, 5);
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  };
  for (const leased of [false, true]) await insertDue(1, { leased });
  await insertDead(1, 0);
  await insertDead(3, 1);
  expect(await counts()).toEqual({ waiting: 0, due: 2, dead: 4 });
  await insertDead(3, 2);
  expect(await counts()).toEqual({ waiting: 0, due: 2, dead: 5 });
});
