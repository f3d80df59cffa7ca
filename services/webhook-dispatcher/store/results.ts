/** The SQL of results: attempts, and the states of their deliveries after them. */
import { type Column, defineArrayStatement } from '@creditlane/postgres/array-rows';
import { defineStatement, type Query } from '@creditlane/postgres/statement';
import type { AttemptResult } from '../sending/attempt.ts';

const RESULT: readonly Column[] = [
  ['id', 'uuid'],
  ['fence', 'int'],
  ['replays', 'int'],
  ['state', 'text'],
  ['reason', 'text'],
  ['delay_ms', 'float8'],
  ['started_at', 'timestamptz'],
  ['duration_ms', 'int'],
  ['status', 'smallint'],
  ['failure', 'text'],
];

// - Two results of one delivery are not expected in a batch; if there are two, that of the latest replay
//   counts, or else the better one.
// - A success counts under any fence since the last replay: the receiver has the webhook, so it must not be
//   sent again. Any other result counts only under the current fence.
// - Each result increments the fence, so that a batch that is written twice, because the answer to the
//   commit was lost, counts once.
// - The rows are locked in the order of lanes and positions, as in all statements that lock several.
// - Assembled from strings, because arrays of few rows and of many are unnested differently: see
//   array-rows.ts.
const recordResults = defineArrayStatement(
  'results_record',
  (rows) => `WITH result AS MATERIALIZED (
     SELECT best.* FROM (
       SELECT DISTINCT ON (r.id) r.* FROM ${rows(RESULT)} AS r
       ORDER BY r.id, r.replays DESC, r.state = 'delivered' DESC, r.fence DESC
     ) AS best JOIN deliveries AS d ON d.id = best.id
     ORDER BY d.application_id, d.destination_id, d.position FOR UPDATE OF d
   ), recorded AS (
     UPDATE deliveries AS d
     SET state = CASE WHEN d.state = 'dead' AND r.state = 'due' THEN d.state ELSE r.state END,
       reason = CASE WHEN d.state = 'dead' AND r.state = 'due' THEN d.reason ELSE r.reason END,
       attempts = d.attempts + 1,
       leased = false,
       fence = d.fence + 1,
       next_attempt_at = CASE WHEN r.state = 'due' THEN now() + r.delay_ms * interval '1 ms' END,
       hold_until = coalesce(d.hold_until, now() + $11 * interval '1 ms'),
       settled_at = CASE WHEN r.state <> 'due' THEN now() ELSE d.settled_at END
     FROM result AS r
     WHERE d.id = r.id AND d.state <> 'delivered'
       AND (d.fence = r.fence OR r.state = 'delivered' AND d.replays = r.replays)
     RETURNING r.*, d.attempts AS number
   )
   INSERT INTO attempts (delivery_id, number, started_at, duration_ms, status, failure)
   SELECT id, number, started_at, duration_ms, status, failure FROM recorded
   ON CONFLICT DO NOTHING`,
);

/** Records attempts. A failing delivery holds its lane for `holdMs` from its first failure. */
export function recordResultsQuery(
  results: readonly AttemptResult[],
  holdMs: number,
): Query<unknown> {
  return recordResults(results.length, [
    results.map(({ delivery }) => delivery.id),
    results.map(({ delivery }) => delivery.fence),
    results.map(({ delivery }) => delivery.replays),
    results.map(({ state }) => state),
    results.map(({ reason }) => reason ?? null),
    results.map(({ delayMs }) => delayMs ?? null),
    results.map(({ startedAt }) => startedAt),
    results.map(({ durationMs }) => durationMs),
    results.map(({ outcome }) => (outcome.kind === 'answered' ? outcome.status : null)),
    results.map(({ outcome }) => (outcome.kind === 'failed' ? outcome.reason : null)),
    holdMs,
  ]);
}

const limitLockWaits = defineStatement(
  'results_limit_lock_waits',
  `SELECT set_config('lock_timeout', $1::text, true)`,
);

/** Limits how long each later statement of the transaction waits for a lock. */
export function limitLockWaitsQuery(waitMs: number): Query<unknown> {
  return limitLockWaits.query([String(waitMs)]);
}
