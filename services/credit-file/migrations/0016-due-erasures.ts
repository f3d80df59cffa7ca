import { concurrentIndexMigration } from '@creditlane/postgres/sql-migration';

/** The unfinished erasures by the time at which they are due. */
export const dueErasures1764990000000 = concurrentIndexMigration(
  'DueErasures1764990000000',
  'applicant_erasures_due',
  'applicant_erasures (due_at) WHERE outcome IS NULL',
);
