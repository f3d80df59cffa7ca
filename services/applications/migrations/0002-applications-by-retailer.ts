import { concurrentIndexMigration } from '@creditlane/postgres/sql-migration';

/** The order of a retailer's list of applications, newest first when read backwards. */
export const applicationsByRetailer1764200000000 = concurrentIndexMigration(
  'ApplicationsByRetailer1764200000000',
  'applications_by_retailer',
  'applications (retailer_id, created_at, id)',
);
