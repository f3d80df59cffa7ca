import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * The revision of the destination that a state belongs to, so that setting a disabled destination again,
 * which makes a new revision, enables it.
 */
export const destinationRevisions1763800000000 = sqlMigration('DestinationRevisions1763800000000', {
  up: ['ALTER TABLE destination_states ADD COLUMN revision integer NOT NULL DEFAULT 1'],
});
