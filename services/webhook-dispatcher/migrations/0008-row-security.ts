import { secureIdempotencySql } from '@creditlane/idempotency/stored-answers';
import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * Requests of an integration see the deliveries to its destination, with their messages and attempts, and the
 * replays that it has asked for. Sending, which concerns all destinations, is the service's own work.
 */
export const rowSecurity1764600000000 = sqlMigration('RowSecurity1764600000000', {
  up: [
    ...enableRowSecuritySql('deliveries', {
      rows: isInScopeSql('destination_id', 'destinations'),
      privileges: 'SELECT, UPDATE',
    }),
    // Visible where a delivery of the message or the attempt is, whose own policy applies here.
    ...enableRowSecuritySql('messages', {
      rows: 'EXISTS (SELECT FROM deliveries WHERE deliveries.event_id = messages.event_id)',
      privileges: 'SELECT',
    }),
    ...enableRowSecuritySql('attempts', {
      rows: 'EXISTS (SELECT FROM deliveries WHERE deliveries.id = attempts.delivery_id)',
      privileges: 'SELECT',
    }),
    ...enableRowSecuritySql('destination_states', {
      rows: isInScopeSql('destination_id', 'destinations'),
      privileges: 'SELECT, UPDATE',
    }),
    ...enableRowSecuritySql('replay_jobs', {
      rows: isInScopeSql('integration_id', 'integrations'),
      privileges: 'SELECT, INSERT, UPDATE',
    }),
    ...secureIdempotencySql,
  ],
});
