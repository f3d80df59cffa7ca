import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * Keeps with each quota in how many milliseconds its limit regained a request, so that what was used of it can be counted in
 * requests after a change of the limit. `per_request_at` is the `taken_at` that it belongs to: an earlier version writes
 * neither, and its rows are read by the present limit.
 */
export const quotaUnits1766100000000 = sqlMigration('QuotaUnits1766100000000', {
  up: [
    `ALTER TABLE rate_limits ADD COLUMN per_request_ms double precision,
       ADD COLUMN per_request_at timestamptz`,
  ],
  compatibility: 'only adds',
});
