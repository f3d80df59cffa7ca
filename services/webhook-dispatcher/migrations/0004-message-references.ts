import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * A message whose body is rendered when it is sent has a reference in place of the body. The earlier
 * version never reads such a message: it has no event type of that name.
 */
export const messageReferences1764000000000 = sqlMigration('MessageReferences1764000000000', {
  up: [
    'ALTER TABLE messages ADD COLUMN reference text',
    'ALTER TABLE messages ALTER COLUMN body DROP NOT NULL',
  ],
});
