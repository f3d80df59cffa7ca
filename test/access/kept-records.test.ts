// What a service has recorded of who did what is out of its own reach.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestPlatform } from '../platform/shared-platform.ts';
import type { TestPlatform } from '../platform/test-platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform.close());

const TABLES = [
  ['credit-file', 'audit_records'],
  ['credit-file', 'audit_heads'],
  ['integrations', 'platform_acts'],
  ['applications', 'platform_acts'],
] as const;

test.each(TABLES)('the role of %s cannot take a record out of %s', async (service, table) => {
  expect(await platform.runSql(service, `SELECT count(*) > 0 AS filled FROM ${table}`)).toEqual([
    { filled: true },
  ]);
  for (const statement of [
    `DELETE FROM ${table}`,
    `TRUNCATE ${table}`,
    `ALTER TABLE ${table} DISABLE TRIGGER USER`,
    `DROP TABLE ${table}`,
  ]) {
    await expect(platform.runSql(service, statement), statement).rejects.toMatchObject({
      code: '42501',
    });
  }
});
