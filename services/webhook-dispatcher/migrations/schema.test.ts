import { runMigrationsBothWays } from '@creditlane/service/test-migrations';
import { expect, test } from 'vitest';
import { webhookDispatcher } from '../service.ts';

// The entities describe what TypeORM reads, which is less than the tables have.
test('the migrations say what they do, block nobody, and can be reverted', async () => {
  expect(await runMigrationsBothWays(webhookDispatcher)).toMatchObject({ left: [], findings: [] });
});
