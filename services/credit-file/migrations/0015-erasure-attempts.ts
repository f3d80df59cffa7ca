import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * When an unfinished erasure is tried next, how often it was tried, and when the applications service erased the
 * personal data; the version before writes none of them.
 */
export const erasureAttempts1764980000000 = sqlMigration('ErasureAttempts1764980000000', {
  up: [
    `ALTER TABLE applicant_erasures
       ADD COLUMN due_at timestamptz NOT NULL DEFAULT now(),
       ADD COLUMN attempts integer NOT NULL DEFAULT 0,
       ADD COLUMN data_erased_at timestamptz`,
  ],
  compatibility: 'only adds',
});
