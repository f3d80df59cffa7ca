import { createApplicantKeysSql } from '@creditlane/crypto/applicant-keys';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** Data keys of applicants, which seal the credit files. */
export const applicantKeys1764910000000 = sqlMigration('ApplicantKeys1764910000000', {
  up: createApplicantKeysSql('live'),
});
