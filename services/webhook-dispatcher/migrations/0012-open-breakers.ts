import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * Adds the open circuit breakers of destinations, which all replicas share: how many probes have failed in a row, when
 * the next one is due, and which delivery is the probe under way. A replica that takes a probe sets `probe_at` to
 * when another one may take it.
 */
export const openBreakers1765200000003 = sqlMigration('OpenBreakers1765200000003', {
  up: [
    `CREATE TABLE open_breakers (
      destination_id uuid PRIMARY KEY,
      revision integer NOT NULL,
      failures integer NOT NULL,
      probe_at timestamptz NOT NULL,
      probe_id uuid
    )`,
  ],
  compatibility: 'only adds',
});
