import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** Erasures of applicants. `outcome` is null until the applications service has erased the personal data, too. */
export const applicantErasures1764940000000 = sqlMigration('ApplicantErasures1764940000000', {
  up: [
    `CREATE TABLE applicant_erasures (
      applicant_id uuid NOT NULL,
      retailer_id uuid NOT NULL,
      actor_kind text NOT NULL,
      actor text NOT NULL,
      request_id text,
      requested_at timestamptz NOT NULL,
      outcome text,
      PRIMARY KEY (applicant_id, retailer_id)
    )`,
    `CREATE INDEX applicant_erasures_unfinished ON applicant_erasures (requested_at)
      WHERE outcome IS NULL`,
    ...enableRowSecuritySql('applicant_erasures', {
      rows: isInScopeSql('retailer_id', 'retailers'),
      privileges: 'SELECT',
    }),
  ],
  compatibility: 'only adds',
});
