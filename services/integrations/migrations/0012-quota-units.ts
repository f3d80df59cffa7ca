import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * Keeps with each quota in how many milliseconds its limit regained a request, so that what was used of it can be counted in
 * requests after a change of the limit. NULL in the rows of earlier versions, which are read as of the present limit.
 */
export const quotaUnits1766100000000 = sqlMigration(
  'QuotaUnits1766100000000',
  ['ALTER TABLE rate_limits ADD COLUMN per_request_ms double precision'],
  ['ALTER TABLE rate_limits DROP COLUMN per_request_ms'],
  'only adds',
);
