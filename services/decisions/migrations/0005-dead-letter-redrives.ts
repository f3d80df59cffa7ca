import { createRedrivesSql } from '@creditlane/messaging/dead-letters/redrives';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** Dead letters that operators have handled again, and their requests. */
export const deadLetterRedrives1764700000000 = sqlMigration('DeadLetterRedrives1764700000000', {
  up: createRedrivesSql,
  compatibility: 'only adds',
});
