import { grantToRequestRoleSql } from '@creditlane/postgres/row-security/request-role';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * Lets requests insert the state of a destination: the success of a test event, which its request records, may be the first that is
 * known of the destination.
 */
export const testedDestinations1766500000000 = sqlMigration('TestedDestinations1766500000000', {
  up: [grantToRequestRoleSql('INSERT', 'destination_states')],
  compatibility: 'only adds',
});
