import { concurrentIndexMigration } from '@creditlane/postgres/sql-migration';

/** The order of a retailer's list of the applications of one status, newest first when read backwards. */
export const applicationsByStatus1765600000000 = concurrentIndexMigration(
  'ApplicationsByStatus1765600000000',
  'applications_by_status',
  'applications (retailer_id, status, created_at, id)',
);
