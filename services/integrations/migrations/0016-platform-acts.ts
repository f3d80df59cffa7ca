import { createPlatformActsSql } from '@creditlane/platform-acts/platform-acts';
import { grantToRequestRoleSql } from '@creditlane/postgres/row-security/request-role';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** The audit of platform acts. Requests add to it, in the transactions of their changes, and read none of it. */
export const platformActs1766500000000 = sqlMigration('PlatformActs1766500000000', {
  up: [...createPlatformActsSql, grantToRequestRoleSql('INSERT', 'platform_acts')],
  compatibility: 'only adds',
});
