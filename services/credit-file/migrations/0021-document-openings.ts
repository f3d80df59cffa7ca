import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** The openings of links to documents in each minute, until the audit log has their number. */
export const documentOpenings1766200000000 = sqlMigration('DocumentOpenings1766200000000', {
  up: [
    `CREATE TABLE document_openings (
      minute timestamptz NOT NULL,
      file_id uuid NOT NULL,
      expires_at timestamptz NOT NULL,
      retailer_id uuid NOT NULL,
      record jsonb NOT NULL,
      repeats integer NOT NULL,
      last_at timestamptz NOT NULL,
      PRIMARY KEY (minute, file_id, expires_at)
    )`,
    ...enableRowSecuritySql('document_openings', {
      rows: isInScopeSql('retailer_id', 'retailers'),
      privileges: 'SELECT, INSERT, UPDATE',
    }),
  ],
  compatibility: 'only adds',
});
