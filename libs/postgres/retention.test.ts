import { expect, onTestFinished, test } from 'vitest';
import { definePurge, deleteOlderThanSql } from './retention.ts';
import { openTestDatabase } from './test-open-database.ts';

test('the age of a row that is changed while it is purged is compared again, beside its ctid', async () => {
  const db = await openTestDatabase('retention', ['CREATE TABLE kept (at timestamptz)']);
  onTestFinished(() => db.close());
  const { text } = definePurge('kept_purge', deleteOlderThanSql('kept', 'at', '7 days'));
  const { rows } = await db.pool.query(`EXPLAIN ${text}`);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toMatch(/Tid Scan on kept [^>]*Filter: \(at < /);
});
