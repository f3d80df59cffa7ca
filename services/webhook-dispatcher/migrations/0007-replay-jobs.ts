import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * Replays of many deliveries: who asked for what, and how far each is. A replay reads the deliveries of its
 * destination in the order of (created_at, id); the cursor is the last one that it has read. Until
 * `finished_at` is set, the destination has no second replay.
 */
export const replayJobs1764400000000 = sqlMigration('ReplayJobs1764400000000', {
  up: [
    `CREATE TABLE replay_jobs (
      id uuid PRIMARY KEY,
      integration_id uuid NOT NULL,
      destination_id uuid NOT NULL,
      delivery_state text NOT NULL CHECK (delivery_state IN ('delivered', 'dead')),
      event text,
      created_from timestamptz,
      created_before timestamptz,
      state text NOT NULL DEFAULT 'counting'
        CHECK (state IN ('counting', 'running', 'completed', 'stopped', 'cancelled')),
      reason text,
      matched integer NOT NULL DEFAULT 0,
      replayed integer NOT NULL DEFAULT 0,
      skipped integer NOT NULL DEFAULT 0,
      cursor_created_at timestamptz NOT NULL,
      cursor_id uuid NOT NULL,
      next_slice_at timestamptz NOT NULL DEFAULT now(),
      requested_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz
    )`,
    `CREATE UNIQUE INDEX replay_jobs_unfinished ON replay_jobs (destination_id)
     WHERE finished_at IS NULL`,
    'CREATE INDEX replay_jobs_age ON replay_jobs USING brin (requested_at)',
  ],
});
