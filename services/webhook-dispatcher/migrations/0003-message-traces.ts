import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** What caused a message, so that its attempts, days later too, belong to the trace of their cause. */
export const messageTraces1763900000000 = sqlMigration(
  'MessageTraces1763900000000',
  ['ALTER TABLE messages ADD COLUMN traceparent text'],
  ['ALTER TABLE messages DROP COLUMN traceparent'],
);
