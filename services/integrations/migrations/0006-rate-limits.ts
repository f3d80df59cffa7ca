import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * The quotas of keys, and the rate limit that an integration's keys have instead of the gateway's setting.
 *
 * The table is unlogged: its rows change up to twenty times a second for each key, and no commit waits for
 * the disk. After a crash of PostgreSQL the table is empty, and every quota whole. Pages are half
 * filled, so that a new version of a row finds room beside the old one and no index changes.
 */
export const rateLimits1764400000000 = sqlMigration('RateLimits1764400000000', {
  up: [
    `CREATE UNLOGGED TABLE rate_limits (
      key_id uuid PRIMARY KEY,
      whole_in_ms double precision NOT NULL,
      taken_at timestamptz NOT NULL,
      blocks jsonb NOT NULL
    ) WITH (fillfactor = 50)`,
    `ALTER TABLE integrations
       ADD COLUMN rate_limit_requests integer CHECK (rate_limit_requests > 0),
       ADD COLUMN rate_limit_window_s integer CHECK (rate_limit_window_s > 0),
       ADD CONSTRAINT integrations_rate_limit
         CHECK ((rate_limit_requests IS NULL) = (rate_limit_window_s IS NULL))`,
  ],
});
