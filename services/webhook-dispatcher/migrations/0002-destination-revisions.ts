import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** What is known of a destination is about one revision of it: what was disabled can be set anew. */
export const destinationRevisions1763800000000 = sqlMigration(
  'DestinationRevisions1763800000000',
  ['ALTER TABLE destination_states ADD COLUMN revision integer NOT NULL DEFAULT 1'],
  ['ALTER TABLE destination_states DROP COLUMN revision'],
);
