import { runMigrationsBothWays } from '@creditlane/service/test-migrations';
import { expect, test } from 'vitest';
import { integrations } from '../service.ts';

test('the migrations say what they do, block nobody, and can be reverted', async () => {
  expect(await runMigrationsBothWays(integrations)).toMatchObject({ left: [], findings: [] });
});
