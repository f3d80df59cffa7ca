/** The SQL of results: attempts, and what they make of their deliveries. */
import { type Column, defineArrayStatement } from '@creditlane/postgres/array-rows';
import type { Query } from '@creditlane/postgres/statement';
import type { AttemptResult } from '../queue/delivery.ts';

const RESULT: readonly Column[] = [
  ['id', 'uuid'],
  ['fence', 'int'],
  ['state', 'text'],
  ['reason', 'text'],
  ['delay_ms', 'float8'],
  ['started_at', 'timestamptz'],
  ['duration_ms', 'int'],
  ['status', 'smallint'],
  ['failure', 'text'],
];

// Of two results of one delivery, which should not come together, the better one counts.
// A success counts whoever brings it: the receiver has the webhook, so it must not be sent again. Any
// other result counts only under the current fence. The fence moves on with each result, so that one
// written twice, because the answer to the commit was lost, counts once.
const record = defineArrayStatement(
  'results_record',
  (listed) => `WITH result AS MATERIALIZED (
     SELECT best.* FROM (
       SELECT DISTINCT ON (r.id) r.* FROM ${listed(RESULT)} AS r
       ORDER BY r.id, r.state = 'delivered' DESC, r.fence DESC
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
       hold_until = coalesce(d.hold_until, now() + $10 * interval '1 ms'),
       settled_at = CASE WHEN r.state <> 'due' THEN now() ELSE d.settled_at END
     FROM result AS r
     WHERE d.id = r.id AND d.state <> 'delivered'
       AND (r.state = 'delivered' OR d.fence = r.fence)
     RETURNING r.*, d.attempts AS number
   )
   INSERT INTO attempts (delivery_id, number, started_at, duration_ms, status, failure)
   SELECT id, number, started_at, duration_ms, status, failure FROM recorded
   ON CONFLICT DO NOTHING`,
);

/** Records attempts. A delivery that fails holds back those behind it for `holdMs` from its first failure. */
export function recordingResults(
  results: readonly AttemptResult[],
  holdMs: number,
): Query<unknown> {
  return record(results.length, [
    results.map(({ delivery }) => delivery.id),
    results.map(({ delivery }) => delivery.fence),
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
