import { runPurge } from '@creditlane/postgres/retention';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import { openTestDatabase } from '@creditlane/postgres/test-open-database';
import { inTransaction } from '@creditlane/postgres/transaction';
import { expect, onTestFinished, test } from 'vitest';
import {
  answersByAgeMigrations,
  createIdempotencySql,
  purgeIdempotency,
} from './stored-answers.ts';

const EARLIER = sqlMigration('TestTables1763000000000', { up: [] });

test('stored answers are deleted after a day, found by their age', async () => {
  const db = await openTestDatabase(
    'idempotency_retention',
    createIdempotencySql,
    answersByAgeMigrations(EARLIER),
  );
  onTestFinished(() => db.close());
  // More old rows than one DELETE takes.
  await db.pool.query(
    `INSERT INTO idempotency (caller_id, operation, key, request_digest, response, created_at)
     SELECT '', '', n, '', '', now() - CASE WHEN n <= 2300 THEN interval '40 days' ELSE '0' END
     FROM generate_series(1, 2500) AS n`,
  );
  expect(await runPurge(db.pool, purgeIdempotency)).toBe(2300);
  const { rows } = await db.pool.query('SELECT count(*)::int AS left FROM idempotency');
  expect(rows).toEqual([{ left: 200 }]);
  const plan = await inTransaction(db.pool, async (tx) => {
    // The table is small: other plans would be as good.
    await tx.query('SET LOCAL enable_seqscan = off');
    await tx.query('SET LOCAL enable_bitmapscan = off');
    return (await tx.query(`EXPLAIN ${purgeIdempotency.text}`)).rows;
  });
  const text = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toContain('Index Scan using idempotency_created');
  expect(text).not.toContain('Sort');
});
