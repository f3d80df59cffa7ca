import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** The revision of a destination, by which the webhook dispatcher recognises an outdated copy. */
export const destinationRevision1763800000000 = sqlMigration('DestinationRevision1763800000000', {
  up: ['ALTER TABLE destinations ADD COLUMN revision integer NOT NULL DEFAULT 1'],
});
