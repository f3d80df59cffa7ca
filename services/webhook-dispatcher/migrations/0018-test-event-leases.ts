import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** Adds the leases by which all replicas together send one test event at a time to a destination. */
export const testEventLeases1765600000000 = sqlMigration('TestEventLeases1765600000000', {
  up: [
    `CREATE TABLE test_event_leases (
      destination_id uuid PRIMARY KEY,
      lease_id uuid NOT NULL,
      leased_until timestamptz NOT NULL
    )`,
    ...enableRowSecuritySql('test_event_leases', {
      rows: isInScopeSql('destination_id', 'destinations'),
      privileges: 'SELECT, INSERT, UPDATE, DELETE',
    }),
  ],
  compatibility: 'only adds',
});
