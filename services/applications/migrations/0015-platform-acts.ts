import { createPlatformActsSql } from '@creditlane/platform-acts/platform-acts';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** The audit of platform acts. */
export const platformActs1766500000000 = sqlMigration('PlatformActs1766500000000', {
  up: createPlatformActsSql,
  compatibility: 'only adds',
});
