import { createRedrivesSql } from '@creditlane/messaging/dead-letters/redrives';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** What operators have had handled or sent again: dead letters, and dead deliveries, alone or by a replay. */
export const redrives1764700000000 = sqlMigration('Redrives1764700000000', {
  up: [
    ...createRedrivesSql,
    `CREATE TABLE delivery_redrives (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      requested_by text NOT NULL,
      requested_at timestamptz NOT NULL DEFAULT now(),
      delivery_id uuid,
      replay_id uuid,
      CHECK ((delivery_id IS NULL) <> (replay_id IS NULL))
    )`,
  ],
  compatibility: 'only adds',
});
