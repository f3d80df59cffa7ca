import { secureIdempotencySql } from '@creditlane/idempotency/stored-answers';
import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** Requests see the conversations of their creditor or retailer, with the comments, and their own answers. */
export const rowSecurity1764600000000 = sqlMigration('RowSecurity1764600000000', {
  up: [
    ...enableRowSecuritySql('conversations', {
      rows: `${isInScopeSql('creditor_id', 'creditors')} OR ${isInScopeSql('retailer_id', 'retailers')}`,
      privileges: 'SELECT, INSERT, UPDATE',
    }),
    // A comment names no retailer: for a retailer, its conversation decides, whose own policy applies here.
    ...enableRowSecuritySql('comments', {
      rows: `${isInScopeSql('creditor_id', 'creditors')} OR EXISTS (
        SELECT FROM conversations
        WHERE conversations.application_id = comments.application_id
          AND conversations.creditor_id = comments.creditor_id)`,
      privileges: 'SELECT, INSERT, UPDATE',
    }),
    ...secureIdempotencySql,
  ],
});
