import {
  grantToRequestRoleSql,
  revokeFromRequestRoleSql,
} from '@creditlane/postgres/row-security/request-role';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import { applications1763700000000 } from './0001-applications.ts';

/** Requests change nothing of an application but its status. */
export const createdApplications1766200000000 = sqlMigration('CreatedApplications1766200000000', {
  up: [
    revokeFromRequestRoleSql('applications'),
    grantToRequestRoleSql('SELECT, INSERT, UPDATE (status)', 'applications'),
  ],
  compatibility: { since: applications1763700000000 },
});
