import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * The enablement of an integration for a creditor, in the row of its grant. Status DISABLED stays in
 * `disabled_at` alone, which the earlier version reads; so a grant that is disabled already needs no change.
 */
export const enablement1764200000000 = sqlMigration('Enablement1764200000000', {
  up: [
    `ALTER TABLE creditor_grants
       ADD COLUMN enablement text CHECK (enablement IN
         ('REQUESTED', 'WAITING_FOR_SECOND_ACTIVATION_STEP', 'FAILED_TO_ENABLE', 'ENABLED')),
       ADD COLUMN enablement_set_at timestamptz,
       ADD COLUMN disabled_reason text`,
  ],
});
