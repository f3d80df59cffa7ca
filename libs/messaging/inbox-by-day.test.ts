// The inbox by day recognises every event that was handled, also by earlier versions, and forgets none before its time.
import { randomUUID } from 'node:crypto';
import { maintainDays } from '@creditlane/postgres/partitions/day-partitions';
import { runPurge } from '@creditlane/postgres/retention';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { firstIdOfTime, newId } from '@creditlane/runtime/ids';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterEach, expect, test } from 'vitest';
import { INBOX_PARTITIONS, purgesOfInbox } from './inbox-by-day.ts';
import {
  migrateMessaging,
  openEarlierMessagingDatabase,
  openMessagingTestDatabase,
} from './test-messaging-database.ts';
import { decisionMessage } from './test-relay.ts';
import { createInboxHandler } from './transactional-inbox.ts';

const DAY_MS = 86_400_000;

let db: OpenTestDatabase;
afterEach(() => db.close());

/** Handles events as a consumer does; resolves to the ids of those that were new. */
async function handle(...ids: string[]): Promise<string[]> {
  const handled: string[] = [];
  const handler = createInboxHandler({
    consumer: 'test',
    ...{ pool: db.pool, log: silentLog, metrics: db.metrics },
    expectedEffects: () => 1,
    planWrites: (events) => ({ writes: [], result: events.map(({ id }) => id) }),
    onCommitted: (committed) => handled.push(...committed),
  });
  await handler(ids.map((id) => decisionMessage('one', id)));
  return handled;
}

const insertReceived = (ids: readonly string[], daysAgo: number) =>
  db.pool.query(
    `INSERT INTO inbox (consumer, event_id, received_at)
     SELECT 'test', unnest($1::uuid[]), now() - $2 * interval '1 day'`,
    [ids, daysAgo],
  );

async function countIn(table: string): Promise<number> {
  const { rows } = await db.pool.query(`SELECT count(*)::int AS count FROM ${table}`);
  return rows[0].count;
}

const idOfDay = (daysAgo: number) =>
  firstIdOfTime(Date.now() - daysAgo * DAY_MS).slice(0, 24) + randomUUID().slice(24);
const many = (count: number, make: () => string) => Array.from({ length: count }, make);

test('an event is handled once, whatever its id and the day of its second delivery', async () => {
  db = await openMessagingTestDatabase('inbox_by_day');
  const ids = [newId(), randomUUID(), idOfDay(400), idOfDay(-400), idOfDay(1), idOfDay(-1)];
  expect(await handle(...ids)).toEqual(ids);
  await maintainDays(db.pool, INBOX_PARTITIONS);
  expect(await handle(...ids)).toEqual([]);
});

test('while the inbox of an earlier version becomes one by day, its consumers handle each event once', async () => {
  db = await openEarlierMessagingDatabase('inbox_migrated');
  // More than one slice, so that the last one begins after ids of both kinds.
  const before = [...many(3_000, randomUUID), ...many(3_000, newId), idOfDay(20)];
  await insertReceived(before, 1);
  await db.pool.query('UPDATE inbox SET expected_effects = 3');
  const expired = many(100, randomUUID);
  await insertReceived(expired, 31);

  let isOver = false;
  const written: string[] = [];
  const consume = async () => {
    for (let n = 0; !isOver; n += 1) {
      const ids = [newId(), randomUUID()];
      expect(await handle(...ids, before[n % before.length] as string)).toEqual(ids);
      written.push(...ids);
    }
  };
  const migrating = migrateMessaging(db).finally(() => {
    isOver = true;
  });
  await Promise.all([migrating, consume(), consume()]);

  expect(await handle(...before, ...written)).toEqual([]);
  expect(await countIn('inbox')).toBe(before.length + written.length);
  const { rows } = await db.pool.query(
    `SELECT expected_effects, count(*)::int FROM inbox GROUP BY 1 ORDER BY 1`,
  );
  expect(rows).toEqual([
    { expected_effects: 1, count: written.length },
    { expected_effects: 3, count: before.length },
  ]);
  expect(await handle(...expired)).toEqual(expired);
});

test('a day of the inbox is dropped thirty days after its end, and after its last event was received', async () => {
  db = await openEarlierMessagingDatabase('inbox_retention');
  const late = idOfDay(40);
  const [dayOfLate, ended, kept] = [40, 35, 29].map((daysAgo) => idOfDay(daysAgo));
  await insertReceived([ended as string, kept as string], 29);
  await migrateMessaging(db);
  // As the partition of a day becomes old: the day is made, and its events were received then or later.
  const day = new Date(Date.now() - 40 * DAY_MS).toISOString().slice(0, 10);
  const bounds = [day, new Date(Date.parse(day) + DAY_MS).toISOString()].map(
    (at) => `'${firstIdOfTime(Date.parse(at))}'`,
  );
  const name = `inbox_${day.replaceAll('-', '')}`;
  await db.pool.query(
    `CREATE TABLE ${name} PARTITION OF inbox FOR VALUES FROM (${bounds[0]}) TO (${bounds[1]})`,
  );
  await insertReceived([dayOfLate as string], 40);
  await insertReceived([late], 29);
  await maintainDays(db.pool, INBOX_PARTITIONS);
  expect(await countIn(name)).toBe(2);
  expect(await handle(late)).toEqual([]);

  await db.pool.query(
    `UPDATE inbox SET received_at = now() - interval '31 days' WHERE event_id = $1`,
    [late],
  );
  await maintainDays(db.pool, INBOX_PARTITIONS);
  expect(await handle(late)).toEqual([late]);
  expect(await handle(kept as string, ended as string)).toEqual([]);
});

test('events without a day are deleted after thirty days', async () => {
  db = await openMessagingTestDatabase('inbox_others');
  await insertReceived([...many(2_300, randomUUID), idOfDay(400)], 31);
  const kept = [...many(200, randomUUID), idOfDay(400), newId()];
  await insertReceived(kept, 29);
  for (const purge of purgesOfInbox) await runPurge(db.pool, purge);
  expect(await countIn('inbox')).toBe(kept.length);
});

test('the purge of the last release deletes no event that was received within thirty days', async () => {
  db = await openMessagingTestDatabase('inbox_earlier_purge');
  // The first rows of their partitions have the same ctid.
  const low = '00000000-0000-4000-8000-000000000000';
  const high = 'ffffffff-0000-4000-8000-000000000000';
  const kept = [high, idOfDay(0), idOfDay(400)];
  await insertReceived([low], 31);
  await insertReceived(kept, 1);
  const { rowCount } = await db.pool.query(
    `DELETE FROM inbox WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM inbox WHERE received_at < now() - interval '30 days' LIMIT 1000))`,
  );
  expect(rowCount).toBe(1);
  expect(await handle(...kept)).toEqual([]);
  expect(await handle(low)).toEqual([low]);
});
