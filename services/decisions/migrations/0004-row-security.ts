import { secureIdempotencySql } from '@creditlane/idempotency/stored-answers';
import { allowAppendingSql } from '@creditlane/messaging/outbox';
import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * Requests see the submissions of their creditor or retailer and the decisions on them. Submissions
 * themselves, each with its first decision, are inserted by the service, which learns of them from
 * applications.
 */
export const rowSecurity1764600000000 = sqlMigration('RowSecurity1764600000000', {
  up: [
    ...enableRowSecuritySql('submissions', {
      rows: `${isInScopeSql('creditor_id', 'creditors')} OR ${isInScopeSql('retailer_id', 'retailers')}`,
      privileges: 'SELECT, UPDATE',
    }),
    // A decision names no retailer: for a retailer, its submission decides, whose own policy applies here.
    ...enableRowSecuritySql('decisions', {
      rows: `${isInScopeSql('creditor_id', 'creditors')} OR EXISTS (
        SELECT FROM submissions
        WHERE submissions.application_id = decisions.application_id
          AND submissions.creditor_id = decisions.creditor_id)`,
      privileges: 'SELECT, INSERT',
    }),
    ...secureIdempotencySql,
    allowAppendingSql,
  ],
});
