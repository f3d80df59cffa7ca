import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** The request keys that have joined a pull of another one. */
export const joinedRequests1765900000000 = sqlMigration('JoinedRequests1765900000000', {
  up: [
    `CREATE TABLE joined_requests (
      applicant_id uuid NOT NULL,
      request_key text NOT NULL,
      retailer_id uuid NOT NULL,
      pull_id uuid NOT NULL,
      PRIMARY KEY (applicant_id, request_key)
    )`,
    ...enableRowSecuritySql('joined_requests', {
      rows: isInScopeSql('retailer_id', 'retailers'),
      privileges: 'SELECT, INSERT',
    }),
  ],
  compatibility: 'only adds',
});
