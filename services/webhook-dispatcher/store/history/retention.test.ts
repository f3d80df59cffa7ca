import { randomUUID } from 'node:crypto';
import { maintainDays, makeDaysSql } from '@creditlane/postgres/partitions/day-partitions';
import { dropEarlierTable } from '@creditlane/postgres/partitions/earlier-tables';
import { runPurge } from '@creditlane/postgres/retention';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { firstIdOfTime } from '@creditlane/runtime/ids';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { insertDelivery, openDispatcherDatabase } from '../../test-deliveries.ts';
import { earlierTables } from './earlier-tables.ts';
import { moveEnded, PARTITIONS, purgeReplayJobs, purgesOfRowsWithoutDay } from './retention.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await openDispatcherDatabase();
});
afterEach(() => database.drop());

const DAY_MS = 86_400_000;
/** The noon of today (UTC), from which the ages of the tests count: one of a few minutes more is of the same day. */
const NOON_MS = (Math.floor(Date.now() / DAY_MS) + 0.5) * DAY_MS;
const timeOf = (ageDays: number) => new Date(NOON_MS - ageDays * DAY_MS);
const idOfAge = (days: number) => firstIdOfTime(timeOf(days).getTime());
const dateOf = (ageDays: number) => timeOf(ageDays).toISOString().slice(0, 10);

/** Adds an event with a delivery of that age and an answered attempt; `settledDays` ago the delivery became dead. */
async function addDelivery(
  ageDays: number,
  settledDays: number | null,
  id: string = randomUUID(),
  eventId: string = id,
): Promise<string> {
  const createdAt = timeOf(ageDays);
  await insertDelivery(database.sql, {
    ...{ id, eventId, createdAt, recordedAt: createdAt },
    ...(settledDays !== null && { state: 'dead', settledAt: timeOf(settledDays) }),
  });
  await database.sql.query('INSERT INTO attempts VALUES ($1, 1, $2, 5)', [id, createdAt]);
  await database.sql.query("INSERT INTO attempt_answers VALUES ($1, $2, '')", [id, createdAt]);
  return id;
}

/** The ids of the deliveries that are kept with their attempts, answers and messages. */
async function idsOfKept(): Promise<string[]> {
  const { rows } = await database.sql.query(
    `SELECT d.id FROM deliveries AS d JOIN attempts ON delivery_id = d.id
     JOIN attempt_answers USING (delivery_id, started_at) JOIN messages USING (event_id) ORDER BY d.id`,
  );
  return rows.map(({ id }) => id);
}

test('a delivery without a day is deleted thirty days after its final state, with its attempts and its message', async () => {
  const kept = [
    await addDelivery(45, 29),
    await addDelivery(40, null),
    await addDelivery(29, 29),
  ].sort();
  await addDelivery(31, 31);
  await addDelivery(60, 40);
  for (const purge of purgesOfRowsWithoutDay) expect(await runPurge(database.sql, purge)).toBe(2);
  expect(await idsOfKept()).toEqual(kept);
  const { rows: left } = await database.sql.query(
    `SELECT (SELECT count(*)::int FROM attempts) + (SELECT count(*)::int FROM messages)
       + (SELECT count(*)::int FROM attempt_answers) AS count`,
  );
  expect(left).toEqual([{ count: 9 }]);
});

test('the tables of an earlier version are dropped after 31 days, when nothing of theirs is pending or kept', async () => {
  const tables = ['deliveries', 'attempts', 'messages'];
  const endedDaysAgo = (days: number) =>
    tables.map(
      (table) =>
        `COMMENT ON TABLE ${table}_earlier IS '${new Date(Date.now() - days * DAY_MS).toISOString()}'`,
    );
  for (const table of tables) {
    await database.sql.query(
      `CREATE TABLE ${table}_earlier PARTITION OF ${table} FOR VALUES IN ('earlier')`,
    );
  }
  const id = await addDelivery(40, null, idOfAge(40));
  for (const table of tables) await database.sql.query(`UPDATE ${table} SET storage = 'earlier'`);
  const left = async () => {
    for (const it of earlierTables(silentLog)) await dropEarlierTable(database.sql, it);
    const { rows } = await database.sql.query(
      `SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name || '_earlier') IS NOT NULL`,
      [tables],
    );
    return rows.map(({ name }) => name);
  };
  await database.sql.query(endedDaysAgo(32).join('; '));
  expect(await left()).toEqual(tables);
  await database.sql.query(
    `UPDATE deliveries SET state = 'dead', settled_at = now(), storage = 'ended'`,
  );
  await database.sql.query(endedDaysAgo(30).join('; '));
  expect(await left()).toEqual(tables);
  await database.sql.query(endedDaysAgo(32).join('; '));
  // A restore can leave comments out, and someone may have written another one.
  await database.sql.query(`COMMENT ON TABLE attempts_earlier IS NULL;
    COMMENT ON TABLE messages_earlier IS 'of the earlier version'`);
  expect(await left()).toEqual(['attempts', 'messages']);
  expect(await idsOfKept()).toEqual([id]);
  await database.sql.query('DELETE FROM deliveries');
  expect(await left()).toEqual(['attempts', 'messages']);
  await database.sql.query(endedDaysAgo(32).slice(1).join('; '));
  expect(await left()).toEqual([]);
});

test('an earlier table that another replica has dropped is left alone, without a warning', async () => {
  const warn = vi.fn();
  for (const table of earlierTables({ ...silentLog, warn })) {
    await table.beginRetention?.(database.sql);
    expect(await table.isKept(database.sql)).toBe(true);
  }
  expect(warn).not.toHaveBeenCalled();
});

test('a day of deliveries is dropped thirty days after their end, one of attempts and messages after the last delivery', async () => {
  for (const days of [36, 33, 32, 29]) {
    const bounds = [days, days - 1];
    const times = bounds.map((it) => `'${dateOf(it)} 00:00Z'`);
    const ids = bounds.map((it) => `'${firstIdOfTime(Date.parse(dateOf(it)))}'`);
    for (const { table, key } of PARTITIONS) {
      await database.sql.query(
        `CREATE TABLE ${table}_${dateOf(days).replaceAll('-', '')} PARTITION OF ${table}
         FOR VALUES FROM (${(key === 'uuid' ? ids : times).join(') TO (')})`,
      );
    }
  }
  const kept = [
    await addDelivery(36, 29, idOfAge(36)),
    await addDelivery(32, null, idOfAge(32)),
    await addDelivery(29, 29, idOfAge(29)),
  ];
  await addDelivery(36, 36, idOfAge(36.001));
  await addDelivery(33, 32, idOfAge(33));
  for (const partitions of PARTITIONS) await maintainDays(database.sql, partitions);
  expect(await idsOfKept()).toEqual(kept);
  const { rows } = await database.sql.query(
    `SELECT (SELECT count(*)::int FROM deliveries) AS deliveries, (SELECT count(*)::int FROM attempts) AS attempts,
       (SELECT count(*)::int FROM messages) AS messages, (SELECT count(*)::int FROM attempt_answers) AS answers`,
  );
  // The attempt, the answer and the message of the dropped delivery of the first day go with those of the kept one.
  expect(rows).toEqual([{ deliveries: 3, attempts: 4, messages: 4, answers: 4 }]);
  const service = database.connect({ options: '-c enable_seqscan=off' });
  for (const { retainingRowsSql } of PARTITIONS.slice(1)) {
    const sql = retainingRowsSql?.({ name: '', fromMs: 0, beforeMs: Date.now() });
    const { rows: plan } = await service.query(`EXPLAIN ${sql} LIMIT 1`);
    expect(JSON.stringify(plan)).not.toContain('Seq Scan');
  }
});

test('the purge of the last release deletes no attempt at a delivery that is kept', async () => {
  const kept = await addDelivery(0, 0, idOfAge(0));
  await addDelivery(32, 32, idOfAge(32));
  await database.sql.query('DELETE FROM deliveries WHERE id <> $1', [kept]);
  // Both rows are the first of their partitions.
  await database.sql.query(
    `DELETE FROM attempts WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM attempts AS a
       WHERE NOT EXISTS (SELECT FROM deliveries AS d WHERE d.id = a.delivery_id)
       ORDER BY delivery_id LIMIT 1000))`,
  );
  const { rows } = await database.sql.query('SELECT delivery_id AS id FROM attempts');
  expect(rows).toEqual([{ id: kept }]);
});

test('a delivery that a replica of an earlier version has ended is stored as ended after five minutes', async () => {
  // In the first five minutes of a day, the delivery has ended yesterday, whose partitions are not there yet.
  for (const partitions of PARTITIONS) await database.sql.query(makeDaysSql(partitions, 1));
  const id = await addDelivery(2, null);
  const pending = await addDelivery(2, null);
  const end = (minutesAgo: number) =>
    database.sql.query(
      `UPDATE deliveries SET state = 'delivered', settled_at = now() - $2 * interval '1 minute' WHERE id = $1`,
      [id, minutesAgo],
    );
  await end(4);
  expect(await runPurge(database.sql, moveEnded)).toBe(0);
  await end(5);
  expect(await runPurge(database.sql, moveEnded)).toBe(1);
  const { rows } = await database.sql.query(
    `SELECT id, storage, tableoid::regclass::text ~ '^deliveries_ended_2' AS "hasDay" FROM deliveries
     ORDER BY storage`,
  );
  expect(rows).toEqual([
    { id, storage: 'ended', hasDay: true },
    { id: pending, storage: 'queue', hasDay: false },
  ]);
});

test('a replay of many deliveries is deleted thirty days after its end', async () => {
  await database.sql.query(
    `INSERT INTO replay_jobs (id, integration_id, destination_id, delivery_state, cursor_created_at,
       cursor_id, requested_at, finished_at)
     SELECT id, id, id, 'dead', now(), id, now() - asked * interval '1 day', now() - ended * interval '1 day'
     FROM (VALUES (gen_random_uuid(), 45, 31), (gen_random_uuid(), 45, 29),
       (gen_random_uuid(), 45, NULL)) AS job (id, asked, ended)`,
  );
  expect(await runPurge(database.sql, purgeReplayJobs)).toBe(1);
});
