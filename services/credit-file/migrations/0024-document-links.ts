import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** Who was given a link to a document, until the link expires: the link ends with that integration's grant. */
export const documentLinks1766500000000 = sqlMigration('DocumentLinks1766500000000', {
  up: [
    `CREATE TABLE document_links (
      file_id uuid NOT NULL,
      expires_at timestamptz NOT NULL,
      integration_id uuid NOT NULL,
      retailer_context uuid,
      retailer_id uuid NOT NULL,
      application_id uuid NOT NULL,
      PRIMARY KEY (file_id, expires_at, integration_id)
    )`,
    'CREATE INDEX document_links_expires_at ON document_links (expires_at)',
    ...enableRowSecuritySql('document_links', {
      rows: isInScopeSql('retailer_id', 'retailers'),
      privileges: 'INSERT',
    }),
  ],
  compatibility: 'only adds',
});
