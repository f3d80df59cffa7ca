import { concurrentIndexMigration } from '@creditlane/postgres/sql-migration';

/** The order of a destination's list of deliveries in each state, newest first when read backwards. */
export const deliveriesByDestination1764300000001 = concurrentIndexMigration(
  'DeliveriesByDestination1764300000001',
  'deliveries_by_destination',
  'deliveries (destination_id, state, created_at, id)',
);
