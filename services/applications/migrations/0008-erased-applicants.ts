import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * When an applicant was erased; null for any other. `sealed` then holds the applicant's id alone, so that the version
 * before reads the application, too.
 */
export const erasedApplicants1764950000000 = sqlMigration('ErasedApplicants1764950000000', {
  up: ['ALTER TABLE applicants ADD COLUMN erased_at timestamptz'],
  compatibility: 'only adds',
});
