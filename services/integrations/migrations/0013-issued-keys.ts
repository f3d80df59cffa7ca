import {
  grantToRequestRoleSql,
  revokeFromRequestRoleSql,
} from '@creditlane/postgres/row-security/request-role';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import { integrations1763700000000 } from './0001-integrations.ts';

/** Requests change nothing of an API key but its revocation. */
export const issuedKeys1766200000000 = sqlMigration('IssuedKeys1766200000000', {
  up: [
    revokeFromRequestRoleSql('keys'),
    grantToRequestRoleSql('SELECT, INSERT, UPDATE (revoked_at)', 'keys'),
  ],
  compatibility: { since: integrations1763700000000 },
});
