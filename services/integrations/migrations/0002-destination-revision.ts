import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** Which setting of a destination is the present one, so that what is known of an earlier one ends. */
export const destinationRevision1763800000000 = sqlMigration(
  'DestinationRevision1763800000000',
  ['ALTER TABLE destinations ADD COLUMN revision integer NOT NULL DEFAULT 1'],
  ['ALTER TABLE destinations DROP COLUMN revision'],
);
