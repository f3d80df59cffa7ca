import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** Finds the credit files that are due to be deleted. */
export const fileRetention1764930000000 = sqlMigration('FileRetention1764930000000', {
  up: ['CREATE INDEX credit_files_created_at ON credit_files (created_at)'],
});
