/** The SQL of results: attempts, and what they make of their deliveries. */
import { type Queryable, statement } from '@creditlane/postgres/statement';
import type { AttemptResult } from './delivery.ts';
import type { Lane } from './store.ts';

// Of two results of one delivery, which should not come together, the better one counts.
// A success counts whoever brings it: the receiver has the webhook, so it must not be sent again. Any
// other result counts only under the current fence. The fence moves on with each result, so that one
// written twice, because the answer to the commit was lost, counts once.
const record = statement<Lane>(
  'results_record',
  `WITH result AS (
     SELECT DISTINCT ON (r.id) * FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::float8[],
       $6::timestamptz[], $7::int[], $8::smallint[], $9::text[])
       AS r (id, fence, state, reason, delay_ms, started_at, duration_ms, status, failure)
     ORDER BY r.id, r.state = 'delivered' DESC, r.fence DESC
   ), locked AS MATERIALIZED (
     SELECT d.id FROM deliveries AS d JOIN result ON result.id = d.id
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
     FROM result AS r JOIN locked ON locked.id = r.id
     WHERE d.id = r.id AND d.state <> 'delivered'
       AND (r.state = 'delivered' OR d.fence = r.fence)
     RETURNING d.id, d.application_id, d.destination_id, d.state, d.holding, d.attempts
   ), logged AS (
     INSERT INTO attempts (delivery_id, number, started_at, duration_ms, status, failure)
     SELECT id, recorded.attempts, started_at, duration_ms, status, failure
     FROM recorded JOIN result USING (id)
     ON CONFLICT DO NOTHING
   )
   SELECT DISTINCT application_id, destination_id FROM recorded
   WHERE holding AND state IN ('delivered', 'dead')`,
);

/**
 * Records attempts and gives the lanes whose next delivery may go. A delivery that fails holds back
 * those behind it for `holdMs` from its first failure.
 */
export function recordResults(
  tx: Queryable,
  results: readonly AttemptResult[],
  holdMs: number,
): Promise<Lane[]> {
  return record.run(tx, [
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
