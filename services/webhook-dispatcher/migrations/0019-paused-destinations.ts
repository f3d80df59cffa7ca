import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import { webhooks1763700000000 } from './0001-webhooks.ts';

/**
 * Lets the owner of a destination pause it: its circuit breaker is open, without a probe, until `paused_until`. The end stays in the
 * row, because the time without a success counts from it. While replicas of an earlier version run beside new ones, they leave the
 * destination alone, too, with two exceptions: one of them sends a probe that a replay or a test event asks it for, and the success of a
 * request that it has under way ends the pause.
 */
export const pausedDestinations1766200000000 = sqlMigration('PausedDestinations1766200000000', {
  up: [
    'ALTER TABLE open_breakers ADD COLUMN paused_until timestamptz',
    ...enableRowSecuritySql('open_breakers', {
      rows: isInScopeSql('destination_id', 'destinations'),
      privileges: 'SELECT, INSERT, UPDATE',
    }),
  ],
  // Row security concerns the requests' role, which reaches the table in no earlier version.
  compatibility: { since: webhooks1763700000000 },
});
