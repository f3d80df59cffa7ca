import { createIdempotencySql } from '@creditlane/idempotency/stored-answers';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

const CREATE = [
  `CREATE TABLE conversations (
    application_id uuid NOT NULL,
    creditor_id uuid NOT NULL,
    retailer_id uuid NOT NULL,
    last_seq integer NOT NULL,
    PRIMARY KEY (application_id, creditor_id)
  )`,
  // No foreign key to conversations: the one statement that inserts here takes the key from the row of the
  // conversation, which the statement before it in the transaction has inserted or locked.
  `CREATE TABLE comments (
    id uuid PRIMARY KEY,
    application_id uuid NOT NULL,
    creditor_id uuid NOT NULL,
    seq integer NOT NULL,
    side text NOT NULL,
    integration_id uuid NOT NULL,
    author_user_id uuid,
    sealed bytea NOT NULL,
    sealed_with text NOT NULL,
    created_at timestamptz NOT NULL,
    delivered_at timestamptz,
    delivered_to_integration_id uuid
  )`,
  'CREATE UNIQUE INDEX comments_sequence ON comments (application_id, creditor_id, seq)',
  'CREATE INDEX comments_sealed_with ON comments (sealed_with)',
  ...createIdempotencySql,
];

/** Conversations with their comments, and stored answers. */
export const conversations1764100000000 = sqlMigration('Conversations1764100000000', {
  up: CREATE,
});
