import {
  disableRowSecuritySql,
  enableRowSecuritySql,
  isInScopeSql,
} from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * Data keys of applicants. A destroyed key keeps its row, without the key: what it sealed can be told from what
 * was damaged.
 */
export const applicantKeys1764910000000 = sqlMigration(
  'ApplicantKeys1764910000000',
  [
    `CREATE TABLE applicant_keys (
      id uuid PRIMARY KEY,
      applicant_id uuid NOT NULL,
      retailer_id uuid NOT NULL,
      sealed bytea,
      sealed_with text,
      created_at timestamptz NOT NULL,
      destroyed_at timestamptz,
      CONSTRAINT applicant_keys_sealed_or_destroyed CHECK (
        (sealed IS NULL) = (destroyed_at IS NOT NULL)
        AND (sealed IS NULL) = (sealed_with IS NULL)
      )
    )`,
    // At most one key that is not destroyed for each applicant.
    `CREATE UNIQUE INDEX applicant_keys_live ON applicant_keys (applicant_id, retailer_id)
      WHERE destroyed_at IS NULL`,
    'CREATE INDEX applicant_keys_sealed_with ON applicant_keys (sealed_with)',
    ...enableRowSecuritySql('applicant_keys', {
      rows: isInScopeSql('retailer_id', 'retailers'),
      privileges: 'SELECT, INSERT',
    }),
  ],
  [...disableRowSecuritySql('applicant_keys'), 'DROP TABLE applicant_keys'],
);
