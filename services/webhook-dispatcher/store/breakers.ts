/**
 * The SQL of open circuit breakers: a row for each destination that fails or is paused, which all replicas share. While a
 * destination is paused, no probe is due, and no statement closes the circuit breaker. The statements of an earlier version do not
 * know of pauses, so that `probe_at` may be earlier than `paused_until`.
 */
import { definePurge, PURGE_BATCH_ROWS } from '@creditlane/postgres/retention';
import { defineStatement, type Query } from '@creditlane/postgres/statement';
import type { LeasedDelivery } from '../queue/delivery.ts';
import { LEASED_COLUMNS, messageOfSql } from './pending/pending-deliveries.ts';

/** The pause before a probe doubles with each probe that fails, from the first to the longest, ±20 %. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 120_000;
/** Among so many of the oldest due deliveries the next probe is chosen. */
const MAX_COMPARED = 1_000;

/** An open circuit breaker, of the latest revision of the destination at which it has failed. */
export interface OpenBreaker {
  readonly destinationId: string;
  readonly revision: number;
  /** Whether the next probe is due. */
  readonly isDue: boolean;
  /** Whether a probe is under way, of this process or another. */
  readonly isProbed: boolean;
  /** Whether the owner has paused the destination. */
  readonly isPaused: boolean;
  /** Whether a pause has ended and nothing was tried since, because nothing was due: the destination has not failed. */
  readonly isUntried: boolean;
}

const selectOpen = defineStatement<OpenBreaker>(
  'breakers_list',
  `SELECT destination_id AS "destinationId", revision, greatest(probe_at, paused_until) <= now() AS "isDue",
     probe_id IS NOT NULL AS "isProbed", coalesce(paused_until > now(), false) AS "isPaused",
     coalesce(paused_until <= now() AND failures = 0 AND probe_id IS NULL, false) AS "isUntried"
   FROM open_breakers`,
);

export function listBreakersQuery(): Query<OpenBreaker[]> {
  return selectOpen.query([]);
}

const insertOpen = defineStatement<{ id: string }>(
  'breakers_open',
  `INSERT INTO open_breakers (destination_id, revision, failures, probe_at)
   SELECT id, revision, 0, now() + $3 * (0.8 + 0.4 * random()) * interval '1 ms'
   FROM unnest($1::uuid[], $2::int[]) AS b (id, revision) ORDER BY id
   ON CONFLICT DO NOTHING RETURNING destination_id AS id`,
);

/** Opens the circuit breakers of destinations, given with their revisions, and returns those; one that is open stays as it is. */
export function openBreakersQuery(revisions: ReadonlyMap<string, number>): Query<{ id: string }[]> {
  return insertOpen.query([[...revisions.keys()], [...revisions.values()], FIRST_PAUSE_MS]);
}

// Replicas lock the rows in one order, here and below, so that they cannot deadlock. 2 to the power of more than
// 1,023 would be an error.
const updateFailed = defineStatement(
  'breakers_probe_failed',
  `WITH failed AS MATERIALIZED (
     SELECT b.destination_id FROM open_breakers AS b
     JOIN unnest($1::uuid[], $2::uuid[]) AS f (destination_id, probe_id) USING (destination_id, probe_id)
     ORDER BY b.destination_id FOR UPDATE OF b
   )
   UPDATE open_breakers AS b
   SET failures = b.failures + 1, probe_id = NULL,
     probe_at = now() + least($4, $3 * 2 ^ least(b.failures + 1, 30)) * (0.8 + 0.4 * random())
       * interval '1 ms'
   FROM failed WHERE b.destination_id = failed.destination_id`,
);

/** Keeps circuit breakers open after the probes, given by destination, have failed: each pause is twice the last. */
export function failProbesQuery(probeIds: ReadonlyMap<string, string>): Query<unknown> {
  const values = [[...probeIds.keys()], [...probeIds.values()]];
  return updateFailed.query([...values, FIRST_PAUSE_MS, MAX_PAUSE_MS]);
}

const updateUnsent = defineStatement(
  'breakers_probe_unsent',
  `WITH unsent AS MATERIALIZED (
     SELECT b.destination_id FROM open_breakers AS b
     JOIN unnest($1::uuid[], $2::uuid[]) AS u (destination_id, probe_id) USING (destination_id, probe_id)
     ORDER BY b.destination_id FOR UPDATE OF b
   )
   UPDATE open_breakers AS b SET probe_id = NULL, probe_at = now() + $3 * interval '1 ms'
   FROM unsent WHERE b.destination_id = unsent.destination_id`,
);

/** For probes, given by destination, that were not sent: makes another one due after the first pause. */
export function giveBackProbesQuery(probeIds: ReadonlyMap<string, string>): Query<unknown> {
  return updateUnsent.query([[...probeIds.keys()], [...probeIds.values()], FIRST_PAUSE_MS]);
}

const deleteOpen = defineStatement<{ id: string }>(
  'breakers_close',
  `DELETE FROM open_breakers WHERE destination_id IN (
     SELECT destination_id FROM open_breakers
     WHERE destination_id = ANY ($1::uuid[]) AND coalesce(paused_until <= now(), true)
     ORDER BY destination_id FOR UPDATE
   ) RETURNING destination_id AS id`,
);

/** Closes the circuit breakers of destinations, and returns those; that of a paused one stays open. */
export function closeBreakersQuery(destinationIds: readonly string[]): Query<{ id: string }[]> {
  return deleteOpen.query([destinationIds]);
}

const updateRequested = defineStatement(
  'breakers_request_probe',
  `WITH requested AS MATERIALIZED (
     SELECT b.destination_id, r.revision FROM open_breakers AS b
     JOIN unnest($1::uuid[], $2::int[]) AS r (destination_id, revision) USING (destination_id)
     ORDER BY b.destination_id FOR UPDATE OF b
   )
   UPDATE open_breakers AS b
   SET revision = greatest(b.revision, requested.revision), failures = 0,
     probe_at = CASE WHEN b.probe_id IS NULL THEN greatest(now(), b.paused_until) ELSE b.probe_at END
   FROM requested WHERE b.destination_id = requested.destination_id`,
);

/** Makes the next probe of each destination, given with its revision, due now, or soon after the probe that is under way. */
export function requestProbesQuery(revisions: ReadonlyMap<string, number>): Query<unknown> {
  return updateRequested.query([[...revisions.keys()], [...revisions.values()]]);
}

// The probe is a delivery that was never tried, where one is due: one that has failed before may fail for what it contains.
// A destination without a due delivery is left out: nothing could be sent to it. The subqueries are scalar: for a join, the
// planner may choose to read all due deliveries of the queue. SKIP LOCKED and the new probe_at
// give each probe to one replica. ANY (ARRAY[…]): see pending-deliveries.ts.
const claimProbes = defineStatement<LeasedDelivery>(
  'breakers_claim_probes',
  `WITH breaker AS MATERIALIZED (
     SELECT b.destination_id FROM open_breakers AS b
     WHERE b.probe_at <= now() AND coalesce(b.paused_until <= now(), true)
       AND (SELECT d.id FROM deliveries AS d
         WHERE d.storage <> 'ended' AND d.state = 'due' AND NOT d.leased
         AND d.destination_id = b.destination_id AND d.next_attempt_at <= now() LIMIT 1) IS NOT NULL
       AND (SELECT s.disabled_at FROM destination_states AS s
         WHERE s.destination_id = b.destination_id) IS NULL
     ORDER BY b.probe_at LIMIT $1 FOR UPDATE OF b SKIP LOCKED
   ), picked AS MATERIALIZED (
     SELECT breaker.destination_id, due.id, due.event_id
     FROM breaker CROSS JOIN LATERAL (
       SELECT d.id, d.event_id FROM deliveries AS d
       WHERE d.storage <> 'ended' AND d.state = 'due' AND NOT d.leased AND d.id = ANY (ARRAY[(
         SELECT oldest.id FROM (
           SELECT o.id, o.attempts, o.next_attempt_at FROM deliveries AS o
           WHERE o.storage <> 'ended' AND o.state = 'due' AND NOT o.leased
             AND o.destination_id = breaker.destination_id AND o.next_attempt_at <= now()
           ORDER BY o.next_attempt_at LIMIT ${MAX_COMPARED}
         ) AS oldest
         ORDER BY oldest.attempts > 0, oldest.next_attempt_at LIMIT 1
       )]) FOR UPDATE SKIP LOCKED
     ) AS due
   ), probed AS (
     UPDATE open_breakers AS b SET probe_id = picked.id, probe_at = now() + $2 * interval '1 ms'
     FROM picked WHERE b.destination_id = picked.destination_id
   )
   UPDATE deliveries AS d
   SET leased = true, fence = d.fence + 1, next_attempt_at = now() + $3 * interval '1 ms'
   FROM picked ${messageOfSql('picked')}
   WHERE d.storage <> 'ended' AND d.id = ANY (ARRAY[picked.id])
   RETURNING ${LEASED_COLUMNS}`,
);

/**
 * Leases a delivery as the probe of each open circuit breaker whose probe is due, `limit` at most. No other process
 * tries these destinations for `probeMs`, or until the probe has failed.
 */
export function claimProbesQuery(
  limit: number,
  { probeMs, leaseMs }: { readonly probeMs: number; readonly leaseMs: number },
): Query<LeasedDelivery[]> {
  return claimProbes.query([limit, probeMs, leaseMs]);
}

// The time after which a failing destination is disabled counts from the end of its pause, which only the row has. A month
// later the row goes in any case: the destination may have been removed.
// The age is compared again for a row that was changed meanwhile, as in `deleteOlderThanSql`.
const PURGED = `DELETE FROM open_breakers
   WHERE probe_at < now() - interval '1 day' AND ctid = ANY (ARRAY(
     SELECT b.ctid FROM open_breakers AS b
     WHERE b.probe_at < now() - interval '1 day' AND NOT EXISTS (
       SELECT FROM destination_states AS s
       WHERE s.destination_id = b.destination_id AND s.disabled_at IS NULL
         AND s.failing_since < b.paused_until AND b.paused_until > now() - interval '30 days')
     LIMIT ${PURGE_BATCH_ROWS}))`;

/** A destination that nothing was due to for a day is sent to as a new one, unless it was failing before a pause. */
export const purgeBreakers = definePurge('breakers_purge', PURGED);
