import { runPurge } from '@creditlane/postgres/retention';
import { openTestDatabase } from '@creditlane/postgres/test-open-database';
import { expect, onTestFinished, test } from 'vitest';
import { createIdempotencySql, purgeIdempotency } from './stored-answers.ts';

test('stored answers are deleted after a day', async () => {
  const db = await openTestDatabase('idempotency_retention', createIdempotencySql);
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
});
