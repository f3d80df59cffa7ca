import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * Adds the rate limits of destinations, which all replicas keep together: how many attempts may begin in a second, by which
 * revision of the destination, and when it will have regained all permits. A replica of an earlier version knows none of them, so that
 * beside it a destination may get more.
 */
export const destinationRates1766400000000 = sqlMigration('DestinationRates1766400000000', {
  up: [
    `CREATE TABLE destination_rates (
      destination_id uuid PRIMARY KEY,
      revision integer NOT NULL,
      per_second integer NOT NULL,
      full_at timestamptz NOT NULL
    )`,
    ...enableRowSecuritySql('destination_rates', {
      rows: isInScopeSql('destination_id', 'destinations'),
      privileges: 'SELECT, INSERT, UPDATE',
    }),
  ],
  compatibility: 'only adds',
});
