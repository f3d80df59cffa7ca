import { secureIdempotencySql } from '@creditlane/idempotency/stored-answers';
import { allowAppendingSql } from '@creditlane/messaging/outbox';
import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** The tables with the records of integrations, and what requests do with them. */
const PRIVILEGES = {
  keys: 'SELECT, INSERT, UPDATE',
  retailer_grants: 'SELECT, INSERT, UPDATE',
  creditor_grants: 'SELECT, INSERT, UPDATE',
  destinations: 'SELECT, INSERT, UPDATE, DELETE',
  previous_secrets: 'SELECT, INSERT, UPDATE, DELETE',
  retailer_enablements: 'SELECT, INSERT',
};

/**
 * Requests see the one integration that they concern, with its records: the calling integration, or the one
 * that the platform's administration names.
 */
export const rowSecurity1764600000000 = sqlMigration('RowSecurity1764600000000', {
  up: [
    ...enableRowSecuritySql('integrations', {
      rows: isInScopeSql('id', 'integrations'),
      privileges: 'SELECT, INSERT, UPDATE',
    }),
    ...Object.entries(PRIVILEGES).flatMap(([table, privileges]) =>
      enableRowSecuritySql(table, {
        rows: isInScopeSql('integration_id', 'integrations'),
        privileges,
      }),
    ),
    ...secureIdempotencySql,
    allowAppendingSql,
  ],
});
