import { checkMigrations } from '@creditlane/service/test-migrations';
import { expect, test } from 'vitest';
import { applications } from './service.ts';

// The entities describe what TypeORM reads, which is less than the tables have.
test('the migrations say what they do and block nobody', async () => {
  expect(await checkMigrations(applications)).toMatchObject({ findings: [] });
});
