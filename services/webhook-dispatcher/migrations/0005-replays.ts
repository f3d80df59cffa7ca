import { createIdempotencySql } from '@creditlane/idempotency/stored-answers';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * Replays: a delivery that is sent again begins a new series of attempts. `earlier_attempts` of its attempts
 * belong to the series before. Replays and test events have stored answers.
 */
export const replays1764300000000 = sqlMigration('Replays1764300000000', {
  up: [
    `ALTER TABLE deliveries
       ADD COLUMN replays smallint NOT NULL DEFAULT 0,
       ADD COLUMN earlier_attempts smallint NOT NULL DEFAULT 0,
       ADD COLUMN replayed_at timestamptz`,
    ...createIdempotencySql,
  ],
});
