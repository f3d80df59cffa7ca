import { runMigrationsBothWays } from '@creditlane/service/test-migrations';
import { expect, test } from 'vitest';
import { creditFile } from './service.ts';

test('the migrations say what they do, block nobody, create the tables of the entities, and can be reverted', async () => {
  expect(await runMigrationsBothWays(creditFile)).toEqual({ missing: [], left: [], findings: [] });
});
