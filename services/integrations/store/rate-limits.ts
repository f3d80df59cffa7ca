/** The SQL of rate limits: a row for each key whose quota is not whole. */
import { definePurge, deleteOlderThanSql } from '@creditlane/postgres/retention';
import { defineStatement, type Query } from '@creditlane/postgres/statement';
import type { Quota } from '../rate-limit/quota.ts';

const insertRow = defineStatement(
  'rate_limit_insert',
  `INSERT INTO rate_limits (key_id, whole_in_ms, taken_at, blocks) VALUES ($1, 0, now(), '{}')
   ON CONFLICT DO NOTHING`,
);

const lockRow = defineStatement(
  'rate_limit_lock',
  'SELECT FROM rate_limits WHERE key_id = $1 FOR UPDATE',
);

/** The quota as it was kept at `taken_at`, how long ago that was, and the present time. */
export interface KeptQuota extends Quota {
  elapsedMs: number;
  now: string;
}

// A statement of its own, after the lock: the time must be later than that of the row's last writer.
const selectRow = defineStatement<KeptQuota>(
  'rate_limit_read',
  `SELECT whole_in_ms AS "wholeInMs", blocks, now::text,
     CASE WHEN per_request_at = taken_at THEN per_request_ms END AS "perRequestMs",
     extract(epoch FROM now - taken_at) * 1000 AS "elapsedMs"
   FROM rate_limits, clock_timestamp() AS now WHERE key_id = $1`,
);

/** The queries that insert the key's row if there is none, lock the row and read it, in this order. */
export function lockQuotaQueries(keyId: string) {
  return [insertRow.query([keyId]), lockRow.query([keyId]), selectRow.query([keyId])] as const;
}

const updateRow = defineStatement(
  'rate_limit_update',
  `UPDATE rate_limits SET whole_in_ms = $2, per_request_ms = $3, taken_at = $4, per_request_at = $4,
     blocks = $5
   WHERE key_id = $1`,
);

/** The query that replaces the quota of the key, as of `now`. */
export function keepQuotaQuery(
  keyId: string,
  now: string,
  { wholeInMs, perRequestMs, blocks }: Quota,
): Query<unknown> {
  return updateRow.query([keyId, wholeInMs, perRequestMs, now, JSON.stringify(blocks)]);
}

/** Deletes the rows of keys that have asked for nothing for two days: longer than any block of a limit counts. */
export const purgeRateLimits = definePurge(
  'rate_limits_purge',
  deleteOlderThanSql('rate_limits', 'taken_at', '2 days'),
);
