import {
  grantToRequestRoleSql,
  revokeFromRequestRoleSql,
} from '@creditlane/postgres/row-security/request-role';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import { conversations1764100000000 } from './0001-conversations.ts';

/** Requests change nothing of a conversation but its last sequence, and nothing of a comment but its delivery. */
export const sentComments1766200000000 = sqlMigration('SentComments1766200000000', {
  up: [
    revokeFromRequestRoleSql('conversations'),
    grantToRequestRoleSql('SELECT, INSERT, UPDATE (last_seq)', 'conversations'),
    revokeFromRequestRoleSql('comments'),
    grantToRequestRoleSql(
      'SELECT, INSERT, UPDATE (delivered_at, delivered_to_integration_id)',
      'comments',
    ),
  ],
  compatibility: { since: conversations1764100000000 },
});
