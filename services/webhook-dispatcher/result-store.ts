/** The SQL of results: attempts, what they make of their deliveries, and of the destinations. */
import { type Queryable, statement } from '@creditlane/postgres/statement';
import type { AttemptResult } from './delivery.ts';
import type { Lane } from './store.ts';

// A success counts whoever brings it: the receiver has the webhook, so it must not be sent again. Any
// other result counts only under the current fence. The fence moves on with each result, so that one
// written twice, because the answer to the commit was lost, counts once.
const record = statement<Lane>(
  'results_record',
  `WITH result AS (
     SELECT * FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::float8[],
       $6::timestamptz[], $7::int[], $8::smallint[], $9::text[])
       AS r (id, fence, state, reason, delay_ms, started_at, duration_ms, status, failure)
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

const noteHealth = statement<{ destination_id: string }>(
  'destinations_note_health',
  `INSERT INTO destination_states AS s (destination_id, last_success_at, failing_since)
   SELECT id, CASE WHEN succeeded THEN now() END, CASE WHEN NOT succeeded THEN now() END
   FROM unnest($1::uuid[], $2::boolean[]) AS d (id, succeeded) ORDER BY id
   ON CONFLICT (destination_id) DO UPDATE SET
     last_success_at = coalesce(excluded.last_success_at, s.last_success_at),
     failing_since = CASE WHEN excluded.last_success_at IS NULL
       THEN coalesce(s.failing_since, excluded.failing_since) END
   RETURNING CASE WHEN s.failing_since < now() - $3 * interval '1 ms' AND s.disabled_at IS NULL
     THEN s.destination_id END AS destination_id`,
);

/** Notes who answered well and who did not; gives those without a success for `patienceMs`. */
export async function noteDestinationHealth(
  tx: Queryable,
  succeeded: ReadonlyMap<string, boolean>,
  patienceMs: number,
): Promise<string[]> {
  const values = [[...succeeded.keys()], [...succeeded.values()], patienceMs];
  const rows = await noteHealth.run(tx, values);
  return rows.flatMap(({ destination_id }) => destination_id ?? []);
}

const disable = statement(
  'destinations_disable',
  `WITH disabled AS (
     INSERT INTO destination_states AS s (destination_id, disabled_at, disabled_reason)
     SELECT id, now(), reason FROM unnest($1::uuid[], $2::text[]) AS d (id, reason) ORDER BY id
     ON CONFLICT (destination_id) DO UPDATE SET
       disabled_at = coalesce(s.disabled_at, excluded.disabled_at),
       disabled_reason = coalesce(s.disabled_reason, excluded.disabled_reason)
   ), pending AS MATERIALIZED (
     SELECT id FROM deliveries
     WHERE destination_id = ANY ($1::uuid[]) AND state IN ('waiting', 'due')
     ORDER BY application_id, destination_id, position FOR UPDATE
   )
   UPDATE deliveries AS d
   SET state = 'dead', reason = 'destination_disabled', leased = false, settled_at = now()
   FROM pending WHERE d.id = pending.id`,
);

/** Ends everything for these destinations, each with its reason. Requests under way may still count. */
export async function disableDestinations(
  tx: Queryable,
  reasons: ReadonlyMap<string, string>,
): Promise<void> {
  await disable.run(tx, [[...reasons.keys()], [...reasons.values()]]);
}
