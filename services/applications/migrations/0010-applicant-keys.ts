import { createApplicantKeysSql } from '@creditlane/crypto/applicant-keys';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * Data keys of applicants. An applicant with `key_id` is sealed with that key, and `sealed_with` is empty; any other as
 * the version before seals it. That version cannot read the new form: nothing is written in it before the compatibility
 * floor of this migration is raised (`applicant/key-use.ts`).
 */
export const applicantKeys1765000000000 = sqlMigration('ApplicantKeys1765000000000', {
  up: [...createApplicantKeysSql('ever'), 'ALTER TABLE applicants ADD COLUMN key_id uuid'],
  compatibility: 'only adds',
  raisesFloorOfNewDatabase: true,
});
