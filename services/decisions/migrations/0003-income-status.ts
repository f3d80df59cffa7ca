import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** The income status of a submission, with the integration that set it and the time. */
export const incomeStatus1764100000000 = sqlMigration('IncomeStatus1764100000000', {
  up: [
    `ALTER TABLE submissions
       ADD COLUMN income_status text,
       ADD COLUMN income_status_set_at timestamptz,
       ADD COLUMN income_status_set_by uuid`,
  ],
});
