/** The SQL that renews and ends leases of deliveries. See pending-deliveries.ts for the form of the statements. */
import { defineStatement, mapQueryResult, type Query } from '@creditlane/postgres/statement';
import type { LeasedDelivery, UntriedDelivery } from '../../queue/delivery.ts';
import { fencesOf, idsOf } from './pending-deliveries.ts';

// A row that another transaction has locked is left out, so that it does not keep the leases of all others from
// being renewed.
const renewLeases = defineStatement<{ id: string; renewed: boolean }>(
  'deliveries_renew',
  `WITH held AS MATERIALIZED (
     SELECT d.id FROM deliveries AS d
     JOIN unnest($1::uuid[], $2::int[]) AS h (id, fence) ON d.id = ANY (ARRAY[h.id])
     WHERE d.storage <> 'ended' AND (d.fence = h.fence AND d.state = 'due' AND d.leased) IS TRUE
       AND (SELECT s.disabled_at FROM destination_states AS s
         WHERE s.destination_id = d.destination_id) IS NULL
   ), locked AS MATERIALIZED (
     SELECT d.id FROM deliveries AS d
     JOIN unnest($1::uuid[], $2::int[]) AS h (id, fence) ON d.id = ANY (ARRAY[h.id])
     WHERE d.storage <> 'ended' AND h.id IN (SELECT id FROM held)
       AND (d.fence = h.fence AND d.state = 'due' AND d.leased) IS TRUE
     FOR UPDATE OF d SKIP LOCKED
   ), renewed AS (
     UPDATE deliveries AS d SET next_attempt_at = now() + $3 * interval '1 ms'
     FROM locked
     WHERE d.storage <> 'ended' AND d.id = ANY (ARRAY[locked.id]) RETURNING d.id
   )
   SELECT id, id IN (SELECT id FROM renewed) AS renewed FROM held`,
);

/**
 * Renews the leases that this process still has, to enabled destinations. Returns the ids of those deliveries, and
 * whether each was renewed: one that another transaction has locked was not, and keeps its lease until its end.
 */
export function renewLeasesQuery(
  deliveries: readonly LeasedDelivery[],
  leaseMs: number,
): Query<ReadonlyMap<string, boolean>> {
  const query = renewLeases.query([idsOf(deliveries), fencesOf(deliveries), leaseMs]);
  return mapQueryResult(query, (rows) => new Map(rows.map(({ id, renewed }) => [id, renewed])));
}

const releaseLeases = defineStatement(
  'deliveries_release',
  `UPDATE deliveries AS d
   SET leased = false, fence = d.fence + 1, next_attempt_at = now() + $3 * interval '1 ms',
     hold_until = coalesce(d.hold_until, CASE WHEN h.starts_hold THEN now() + $4 * interval '1 ms' END)
   FROM unnest($1::uuid[], $2::int[], $5::boolean[]) AS h (id, fence, starts_hold)
   WHERE d.storage <> 'ended' AND d.id = ANY (ARRAY[h.id])
     AND (d.fence = h.fence AND d.state = 'due') IS TRUE`,
);

/** Ends leases without an attempt; the deliveries are due at once. */
export function releaseLeasesQuery(deliveries: readonly LeasedDelivery[]): Query<unknown> {
  const startsHold = deliveries.map(() => false);
  return releaseLeases.query([idsOf(deliveries), fencesOf(deliveries), 0, null, startsHold]);
}

/**
 * Ends the leases of deliveries that could not be tried; they are due again after `delayMs`. One that lacks its content holds its
 * lane for `holdMs` from the first time, as a failing one does.
 */
export function releaseUntriedQuery(
  untried: readonly UntriedDelivery[],
  { delayMs, holdMs }: { delayMs: number; holdMs: number },
): Query<unknown> {
  const deliveries = untried.map(({ delivery }) => delivery);
  const startsHold = untried.map(({ lacksContent }) => lacksContent);
  const values = [idsOf(deliveries), fencesOf(deliveries), delayMs, holdMs, startsHold];
  return releaseLeases.query(values);
}

const endExpiredLeases = defineStatement<{ destinationId: string }>(
  'deliveries_end_leases',
  `WITH expired AS MATERIALIZED (
     SELECT id FROM deliveries
     WHERE storage <> 'ended' AND state = 'due' AND leased
       AND next_attempt_at BETWEEN now() - $1 * interval '1 ms' AND now()
     LIMIT $2 FOR UPDATE SKIP LOCKED
   )
   UPDATE deliveries AS d SET leased = false, fence = d.fence + 1
   FROM expired
   WHERE d.storage <> 'ended' AND d.id = ANY (ARRAY[expired.id])
   RETURNING d.destination_id AS "destinationId"`,
);

/**
 * Ends leases that have expired within `withinMs`, `limit` at most, so that the deliveries can be claimed; returns how
 * many, and their destinations. Left out are those that another transaction has locked.
 */
export function endExpiredLeasesQuery(
  withinMs: number,
  limit: number,
): Query<{ count: number; destinationIds: string[] }> {
  return mapQueryResult(endExpiredLeases.query([withinMs, limit]), (rows) => ({
    count: rows.length,
    destinationIds: [...new Set(rows.map(({ destinationId }) => destinationId))],
  }));
}

const hasLeases = defineStatement<{ hasLeases: boolean }>(
  'deliveries_have_leases',
  `SELECT EXISTS (SELECT FROM deliveries
     WHERE storage <> 'ended' AND state = 'due' AND leased
       AND next_attempt_at >= now() - $1 * interval '1 ms') AS "hasLeases"`,
);

/** Whether any process has leased a delivery, by leases that last or have expired within `withinMs`. */
export function hasLeasesQuery(withinMs: number): Query<boolean> {
  return mapQueryResult(hasLeases.query([withinMs]), ([row]) => row?.hasLeases === true);
}
