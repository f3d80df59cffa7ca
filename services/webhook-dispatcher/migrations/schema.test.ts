import { checkMigrations } from '@creditlane/service/test-migrations';
import { expect, test } from 'vitest';
import { webhookDispatcher } from '../service.ts';

test('the migrations say what they do and block nobody', async () => {
  expect(await checkMigrations(webhookDispatcher)).toMatchObject({ findings: [] });
});
