import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * The secrets that a rotation replaced and that still sign. The newest secret stays in its destination's
 * row, where the earlier version reads it; that version signs with the newest secret only.
 */
export const previousSecrets1764100000000 = sqlMigration('PreviousSecrets1764100000000', {
  up: [
    `CREATE TABLE previous_secrets (
      id uuid PRIMARY KEY,
      destination_id uuid NOT NULL REFERENCES destinations ON DELETE CASCADE,
      integration_id uuid NOT NULL REFERENCES integrations,
      sealed_secret bytea NOT NULL,
      sealed_with text NOT NULL,
      replaced_at timestamptz NOT NULL,
      signs_until timestamptz NOT NULL
    )`,
    'CREATE INDEX previous_secrets_destination ON previous_secrets (destination_id)',
  ],
});
