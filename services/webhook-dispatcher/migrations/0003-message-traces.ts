import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** The trace in which a message was made, so that its attempts belong to that trace even days later. */
export const messageTraces1763900000000 = sqlMigration('MessageTraces1763900000000', {
  up: ['ALTER TABLE messages ADD COLUMN traceparent text'],
});
