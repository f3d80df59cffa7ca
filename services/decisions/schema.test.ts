import { checkMigrations } from '@creditlane/service/test-migrations';
import { expect, test } from 'vitest';
import { decisions } from './service.ts';

test('the migrations say what they do, block nobody, and create the tables of the entities', async () => {
  expect(await checkMigrations(decisions)).toEqual({ missing: [], findings: [] });
});
