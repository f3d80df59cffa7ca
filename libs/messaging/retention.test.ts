import { type Purge, runPurge } from '@creditlane/postgres/retention';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { purgeOutbox } from './retention.ts';
import { openMessagingTestDatabase } from './test-messaging-database.ts';

let db: OpenTestDatabase;
beforeAll(async () => {
  db = await openMessagingTestDatabase('retention');
});
afterAll(() => db.close());

/** Fills a table with old and new rows, more old ones than one DELETE takes. */
async function fill(table: string, columns: string, values: string): Promise<void> {
  await db.pool.query(
    `INSERT INTO ${table} (${columns})
     SELECT ${values} FROM generate_series(1, 2500) AS n,
       LATERAL (SELECT now() - CASE WHEN n <= 2300 THEN interval '40 days' ELSE '0' END AS at) AS age`,
  );
}

async function purgeAndCount(purge: Purge, table: string): Promise<[number, number]> {
  const deleted = await runPurge(db.pool, purge);
  const { rows } = await db.pool.query(`SELECT count(*) FROM ${table}`);
  return [deleted, rows[0].count];
}

test('published events are deleted after a week, unpublished ones never', async () => {
  await fill('outbox', 'shard, topic, key, type, payload, published_at', "0, '', '', '', '{}', at");
  await db.pool.query(
    "INSERT INTO outbox (shard, topic, key, type, payload, created_at) VALUES (0, '', '', '', '{}', now() - interval '1 year')",
  );
  expect(await purgeAndCount(purgeOutbox, 'outbox')).toEqual([2300, 201]);
});
