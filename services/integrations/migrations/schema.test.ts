import { checkMigrations } from '@creditlane/service/test-migrations';
import { expect, test } from 'vitest';
import { integrations } from '../service.ts';

test('the migrations say what they do and block nobody', async () => {
  expect(await checkMigrations(integrations)).toMatchObject({ findings: [] });
});
