import { secureIdempotencySql } from '@creditlane/idempotency/stored-answers';
import { allowAppendingSql } from '@creditlane/messaging/outbox';
import {
  enableRowSecuritySql,
  isInScopeSql,
  scopeIdsSql,
} from '@creditlane/postgres/row-security/policies';
import { grantToRequestRoleSql } from '@creditlane/postgres/row-security/request-role';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** A row of the application is visible where the application is, whose own policy applies here. */
const hasVisibleApplication = (table: string) =>
  `EXISTS (SELECT FROM applications WHERE applications.id = ${table}.application_id)`;

/**
 * A user belongs to a retailer of the scope or to its group. Written with `&&`, which reads the indexes of both
 * columns: a query's own conditions on these arrays cannot, because the policy must be checked before them.
 */
const VISIBLE_USERS = `retailer_ids && ${scopeIdsSql('retailers')}
  OR retailer_group_ids && ARRAY(
    SELECT retailer_group_id FROM retailers WHERE id = ANY (${scopeIdsSql('retailers')}))`;

/** Requests see their retailer, its users, and its applications with everything that belongs to them. */
export const rowSecurity1764600000000 = sqlMigration('RowSecurity1764600000000', {
  up: [
    ...enableRowSecuritySql('retailers', {
      rows: isInScopeSql('id', 'retailers'),
      privileges: 'SELECT',
    }),
    ...enableRowSecuritySql('users', { rows: VISIBLE_USERS, privileges: 'SELECT' }),
    grantToRequestRoleSql('SELECT', 'creditors'),
    ...enableRowSecuritySql('applications', {
      rows: isInScopeSql('retailer_id', 'retailers'),
      privileges: 'SELECT, INSERT, UPDATE',
    }),
    ...enableRowSecuritySql('applicants', {
      rows: hasVisibleApplication('applicants'),
      privileges: 'SELECT, INSERT',
    }),
    ...enableRowSecuritySql('submissions', {
      rows: hasVisibleApplication('submissions'),
      privileges: 'SELECT, INSERT',
    }),
    ...enableRowSecuritySql('consents', {
      rows: 'EXISTS (SELECT FROM applicants WHERE applicants.id = consents.applicant_id)',
      privileges: 'INSERT',
    }),
    ...enableRowSecuritySql('exports', {
      rows: hasVisibleApplication('exports'),
      privileges: 'INSERT',
    }),
    ...secureIdempotencySql,
    allowAppendingSql,
  ],
});
