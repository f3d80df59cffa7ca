import { randomUUID } from 'node:crypto';
import { keepDays } from '@creditlane/postgres/partitions/day-partitions';
import { runPurge } from '@creditlane/postgres/retention';
import { firstIdOfTime } from '@creditlane/runtime/ids';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestFixture, type TestFixture } from '../test-fixture.ts';
import {
  moveEnded,
  PARTITIONS,
  purgeAttempts,
  purgeDeliveries,
  purgeMessages,
  purgeReplayJobs,
} from './retention.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
  const { close } = await fixture.start();
  await close();
});
afterEach(() => fixture.close());

/** Adds an event with a delivery of that age and an attempt; `settledDays` ago the delivery became dead. */
async function addDelivery(
  ageDays: number,
  settledDays: number | null,
  id: string = randomUUID(),
): Promise<string> {
  const eventId = randomUUID();
  const ages = `now() - $3 * interval '1 day'`;
  await fixture.sql.query(
    `WITH message AS (
       INSERT INTO messages VALUES ($2, 'applicationBooked', $2, '{}', ${ages})
     ), attempt AS (
       INSERT INTO attempts VALUES ($1, 1, ${ages}, 5)
     )
     INSERT INTO deliveries (id, event_id, destination_id, application_id, state, leased, fence,
       created_at, settled_at, storage)
     VALUES ($1, $2, $1, $2, CASE WHEN $4::float8 IS NULL THEN 'due' ELSE 'dead' END, false, 1,
       ${ages}, now() - $4::float8 * interval '1 day',
       CASE WHEN $4::float8 IS NULL THEN 'queue' ELSE 'ended' END)`,
    [id, eventId, ageDays, settledDays],
  );
  return id;
}

/** The ids of the deliveries that are kept with their attempts and messages. */
async function idsOfKept(): Promise<string[]> {
  const { rows } = await fixture.sql.query(
    `SELECT d.id FROM deliveries AS d JOIN attempts ON delivery_id = d.id
     JOIN messages USING (event_id) ORDER BY d.id`,
  );
  return rows.map(({ id }) => id);
}

it('a delivery is deleted thirty days after its final state, with its attempts and its message', async () => {
  const kept = [
    await addDelivery(45, 29),
    await addDelivery(40, null),
    await addDelivery(29, 29),
  ].sort();
  await addDelivery(31, 31);
  await addDelivery(60, 40);
  expect(await runPurge(fixture.sql, purgeDeliveries)).toBe(2);
  expect(await runPurge(fixture.sql, purgeMessages)).toBe(2);
  expect(await idsOfKept()).toEqual(kept);
  const { rows: left } = await fixture.sql.query(
    'SELECT (SELECT count(*)::int FROM attempts) + (SELECT count(*)::int FROM messages) AS count',
  );
  expect(left).toEqual([{ count: 6 }]);
});

it('a delivery in the table of an earlier version is deleted from it thirty days after its final state', async () => {
  await fixture.sql.query(
    "CREATE TABLE deliveries_earlier PARTITION OF deliveries FOR VALUES IN ('earlier')",
  );
  const [kept, old] = [await addDelivery(45, 29), await addDelivery(45, 31)];
  await fixture.sql.query(`UPDATE deliveries SET storage = 'earlier' WHERE storage = 'ended'`);
  expect(await runPurge(fixture.sql, purgeDeliveries)).toBe(1);
  const { rows } = await fixture.sql.query(
    'SELECT delivery_id AS id FROM attempts UNION ALL SELECT id FROM deliveries',
  );
  expect(rows).toEqual([{ id: kept }, { id: kept }]);
  expect(rows).not.toContainEqual({ id: old });
});

it('the deliveries that ended on a day are dropped with its partition, and their attempts and messages are deleted', async () => {
  const [partitions] = PARTITIONS;
  if (partitions === undefined) throw new Error('the ended deliveries have partitions');
  const DAY_MS = 86_400_000;
  const idOfAge = (days: number) => firstIdOfTime(Date.now() - days * DAY_MS);
  for (const days of [36, 32, 29]) {
    const dayOf = (ageDays: number) =>
      new Date(Date.now() - ageDays * DAY_MS).toISOString().slice(0, 10);
    await fixture.sql.query(
      `CREATE TABLE deliveries_ended_${dayOf(days).replaceAll('-', '')} PARTITION OF deliveries_ended
       FOR VALUES FROM ('${dayOf(days)} 00:00Z') TO ('${dayOf(days - 1)} 00:00Z')`,
    );
  }
  const kept = [
    await addDelivery(35, 29, idOfAge(35)),
    await addDelivery(34, null, idOfAge(34)),
    await addDelivery(29, 29, idOfAge(29)),
  ];
  await addDelivery(36, 36, idOfAge(36));
  await addDelivery(33, 32, idOfAge(33));
  await keepDays(fixture.sql, partitions);
  expect(await runPurge(fixture.sql, purgeDeliveries)).toBe(0);
  expect(await runPurge(fixture.sql, purgeAttempts)).toBe(2);
  expect(await runPurge(fixture.sql, purgeMessages)).toBe(2);
  expect(await idsOfKept()).toEqual(kept);
});

it('a delivery that a replica of an earlier version has ended is stored as ended after five minutes', async () => {
  const id = await addDelivery(2, null);
  const pending = await addDelivery(2, null);
  const end = (minutesAgo: number) =>
    fixture.sql.query(
      `UPDATE deliveries SET state = 'delivered', settled_at = now() - $2 * interval '1 minute' WHERE id = $1`,
      [id, minutesAgo],
    );
  await end(4);
  expect(await runPurge(fixture.sql, moveEnded)).toBe(0);
  await end(5);
  expect(await runPurge(fixture.sql, moveEnded)).toBe(1);
  const { rows } = await fixture.sql.query(
    `SELECT id, storage, tableoid::regclass::text ~ '^deliveries_ended_2' AS "hasDay" FROM deliveries
     ORDER BY storage`,
  );
  expect(rows).toEqual([
    { id, storage: 'ended', hasDay: true },
    { id: pending, storage: 'queue', hasDay: false },
  ]);
});

it('a replay of many deliveries is deleted thirty days after its end', async () => {
  await fixture.sql.query(
    `INSERT INTO replay_jobs (id, integration_id, destination_id, delivery_state, cursor_created_at,
       cursor_id, requested_at, finished_at)
     SELECT id, id, id, 'dead', now(), id, now() - asked * interval '1 day', now() - ended * interval '1 day'
     FROM (VALUES (gen_random_uuid(), 45, 31), (gen_random_uuid(), 45, 29),
       (gen_random_uuid(), 45, NULL)) AS job (id, asked, ended)`,
  );
  expect(await runPurge(fixture.sql, purgeReplayJobs)).toBe(1);
});
