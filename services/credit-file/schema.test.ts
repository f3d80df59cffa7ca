import { runMigrationsBothWays } from '@creditlane/service/test-migrations';
import { expect, test } from 'vitest';
import { creditFile } from './service.ts';

test('the migrations create the tables that the entities describe, and can be reverted', async () => {
  expect(await runMigrationsBothWays(creditFile)).toEqual({ missing: [], left: [] });
});
