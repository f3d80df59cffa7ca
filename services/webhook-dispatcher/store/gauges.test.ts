import { randomUUID } from 'node:crypto';
import { runQuery } from '@creditlane/postgres/statement';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestFixture, type TestFixture } from '../test-fixture.ts';
import { countBacklog, longestDueS } from './gauges.ts';

let fixture: TestFixture;
beforeAll(async () => {
  fixture = await createTestFixture();
  await (await fixture.start()).close();
});
beforeEach(async () => {
  await fixture.sql.query('TRUNCATE deliveries, destination_states');
});
afterAll(() => fixture?.close());

/** Inserts a delivery that has been due for so many seconds; a negative number is one that is due later. */
const insertDue = (seconds: number, { leased = false, destinationId = randomUUID() } = {}) =>
  fixture.sql.query(
    `INSERT INTO deliveries (id, event_id, destination_id, application_id, sequence, state, leased, fence,
       next_attempt_at)
     VALUES (gen_random_uuid(), gen_random_uuid(), $1, gen_random_uuid(), 1, 'due', $2, 0,
       now() - $3::int * interval '1 second')`,
    [destinationId, leased, seconds],
  );

/** Inserts so many deliveries that became dead so many days ago. */
const insertDead = (count: number, days: number) =>
  fixture.sql.query(
    `INSERT INTO deliveries (id, event_id, destination_id, application_id, state, leased, fence, settled_at, storage)
     SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'dead', false, 0,
       now() - $2::int * interval '1 day', 'ended' FROM generate_series(1, $1)`,
    [count, days],
  );

const longestDue = async () => Math.floor(await longestDueS(fixture.sql));

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
  await fixture.sql.query(
    `INSERT INTO destination_states (destination_id, disabled_at, disabled_reason) VALUES ($1, now(), 'gone')`,
    [destinationId],
  );
  expect(await longestDue()).toBe(0);
});

test('deliveries are counted by state, dead ones of all days together up to a limit', async () => {
  const counts = async () => {
    const rows = await runQuery(fixture.sql, countBacklog.query([5]));
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  };
  for (const leased of [false, true]) await insertDue(1, { leased });
  await insertDead(1, 0);
  await insertDead(3, 1);
  expect(await counts()).toEqual({ waiting: 0, due: 2, dead: 4 });
  await insertDead(3, 2);
  expect(await counts()).toEqual({ waiting: 0, due: 2, dead: 5 });
});
