/** The SQL of results: attempts, and the states of their deliveries after them. */
import { type Column, defineArrayStatement } from '@creditlane/postgres/array-rows';
import type { Query } from '@creditlane/postgres/statement';
import type { AttemptResult } from '../sending/attempt.ts';
import { insertEndedSql } from './history/ended-deliveries.ts';

/** Far more than a delivery is leased before its request, and than the clocks of replica and database differ. */
const MAX_LEASED_BEFORE_START_MS = 3_600_000;

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
// - `ANY (ARRAY[…])`, `IS TRUE` and the order of a row make each delivery a lookup: see pending-deliveries.ts.
// - A delivery that ends is deleted and stored as ended by an insert, because an update that moves a row to another
//   partition fails whoever waits for the row.
// - Assembled from strings, because arrays of few rows and of many are unnested differently: see
//   array-rows.ts.
const recordResults = defineArrayStatement<{ id: string }>(
  'results_record',
  (rows) => `WITH result AS MATERIALIZED (
     SELECT best.* FROM (
       SELECT DISTINCT ON (r.id) r.* FROM ${rows(RESULT)} AS r
       ORDER BY r.id, r.replays DESC, r.state = 'delivered' DESC, r.fence DESC
     ) AS best JOIN deliveries AS d
       ON d.id = ANY (ARRAY[best.id]) AND d.storage <> 'ended'
     ORDER BY (d.application_id, d.destination_id, d.position) FOR UPDATE OF d
   ), retried AS (
     UPDATE deliveries AS d
     SET attempts = d.attempts + 1,
       leased = false,
       fence = d.fence + 1,
       next_attempt_at = now() + r.delay_ms * interval '1 ms',
       hold_until = coalesce(d.hold_until, now() + $11 * interval '1 ms')
     FROM result AS r
     WHERE r.state = 'due' AND d.storage <> 'ended' AND d.id = ANY (ARRAY[r.id])
       AND (d.state <> 'delivered' AND d.fence = r.fence) IS TRUE
     RETURNING d.id, d.attempts AS number, r.started_at, r.duration_ms, r.status, r.failure
   ), ended AS (
     DELETE FROM deliveries AS d USING result AS r
     WHERE r.state <> 'due' AND d.storage <> 'ended' AND d.id = ANY (ARRAY[r.id])
       AND (d.state <> 'delivered' AND (d.fence = r.fence OR r.state = 'delivered' AND d.replays = r.replays)) IS TRUE
     RETURNING d.*, r.state AS last_state, r.reason AS last_reason,
       r.started_at, r.duration_ms, r.status, r.failure
   ), stored AS (
     ${insertEndedSql({
       state: 'last_state',
       reason: 'last_reason',
       settledAt: 'now()',
       fence: 'fence + 1',
       attempts: 'attempts + 1',
       nextAttemptAt: 'NULL',
     })}
   ), recorded AS (
     SELECT id, number, started_at, duration_ms, status, failure FROM retried
     UNION ALL
     SELECT id, attempts + 1, started_at, duration_ms, status, failure FROM ended
   ), attempt AS (
     INSERT INTO attempts (delivery_id, number, started_at, duration_ms, status, failure)
     SELECT id, number, started_at, duration_ms, status, failure FROM recorded
     ON CONFLICT DO NOTHING
   )
   SELECT id FROM recorded`,
);

// A delivery that another process has ended meanwhile, such as one to a disabled destination, is delivered if its
// request has succeeded. It ended after it was leased for the request, so that the days before $11 are not looked at.
// `settled_at` stays as it is: an update that moves a row to the partition of another day fails whoever waits for the row.
const recordLateResults = defineArrayStatement(
  'results_record_late',
  (rows) => `WITH result AS MATERIALIZED (
     SELECT best.* FROM (
       SELECT DISTINCT ON (r.id) r.* FROM ${rows(RESULT)} AS r
       ORDER BY r.id, r.replays DESC, r.state = 'delivered' DESC, r.fence DESC
     ) AS best JOIN deliveries_ended AS d ON d.id = ANY (ARRAY[best.id]) AND d.settled_at >= $11::timestamptz
     ORDER BY (d.application_id, d.destination_id, d.position) FOR UPDATE OF d
   ), recorded AS (
     UPDATE deliveries_ended AS d
     SET state = CASE WHEN r.state = 'due' THEN d.state ELSE r.state END,
       reason = CASE WHEN r.state = 'due' THEN d.reason ELSE r.reason END,
       attempts = d.attempts + 1,
       fence = d.fence + 1
     FROM result AS r
     WHERE d.id = ANY (ARRAY[r.id]) AND d.settled_at >= $11::timestamptz AND d.state <> 'delivered'
       AND (d.fence = r.fence OR r.state = 'delivered' AND d.replays = r.replays)
     RETURNING r.*, d.attempts AS number
   )
   INSERT INTO attempts (delivery_id, number, started_at, duration_ms, status, failure)
   SELECT id, number, started_at, duration_ms, status, failure FROM recorded
   ON CONFLICT DO NOTHING`,
);

/**
 * Records attempts at pending deliveries; returns the ids of those recorded. A failing delivery holds its lane for
 * `holdMs` from its first failure.
 */
export function recordResultsQuery(
  results: readonly AttemptResult[],
  holdMs: number,
): Query<{ id: string }[]> {
  return recordResults(results.length, [...columnsOf(results), holdMs]);
}

/** Records attempts at deliveries that ended while the requests were under way. */
export function recordLateResultsQuery(results: readonly AttemptResult[]): Query<unknown> {
  const firstStartMs = Math.min(...results.map(({ startedAt }) => startedAt.getTime()));
  const endedSince = new Date(firstStartMs - MAX_LEASED_BEFORE_START_MS);
  return recordLateResults(results.length, [...columnsOf(results), endedSince]);
}

function columnsOf(results: readonly AttemptResult[]): unknown[][] {
  return [
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
  ];
}
