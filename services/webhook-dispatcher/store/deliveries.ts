/**
 * The SQL of pending deliveries: claims, leases, and the order within a lane. `application_id` holds
 * the ordering key. Pending deliveries are all those that are not stored as ended.
 *
 * Joins of given ids with deliveries leave PostgreSQL no plan but to look each id up. By the statistics of an empty queue, as after a
 * VACUUM before a burst, reading the whole queue costs as little, and a claim in a queue of 20,000 then took 2.4 s:
 * - `d.id = ANY (ARRAY[x.id])`, because `d.id = x.id` also allows to merge, for which the index is read from end to end. The service's
 *   connections make no sequential scans (`service.ts`).
 * - `(…) IS TRUE` around conditions that compare another column with the other table, or that a partial index repeats. `storage` stays
 *   outside: it chooses the partitions.
 * - `ORDER BY (a, b, c)`, one row, where rows are locked: an index has the order of the three columns.
 * - `NOT IN`, of columns without NULL, instead of NOT EXISTS, which becomes a join.
 */
import {
  defineStatement,
  mapQueryResult,
  type Query,
  type Queryable,
} from '@creditlane/postgres/statement';
import {
  type Lane,
  type LeasedDelivery,
  laneKey,
  type UntriedDelivery,
} from '../queue/delivery.ts';

/** SQL of a `LeasedDelivery` from the delivery `d` and its message `m`: three statements lease deliveries. */
export const LEASED_COLUMNS = `d.id, d.fence, d.attempts - d.earlier_attempts AS attempts, d.replays,
     d.application_id AS "orderingKey", d.destination_id AS "destinationId", d.sequence,
     m.event, m.body, m.reference, m.recorded_at AS "recordedAt", m.traceparent`;

/**
 * Joins each of the `rows` with its message `m`. OFFSET 0 keeps the message a lookup by its id: by the statistics of small
 * partitions, a join that reads the messages of all days seems as good.
 */
export const messageOfSql = (rows: string) => `CROSS JOIN LATERAL (
     SELECT event, body, reference, recorded_at, traceparent FROM messages
     WHERE event_id = ${rows}.event_id OFFSET 0
   ) AS m`;

// The recursive part visits one destination after another through the index, so that many due deliveries
// to one destination do not delay the claim of those to others. SKIP LOCKED lets replicas claim at once. The
// subquery for disabled destinations is scalar: a join could change the order of the destinations. The capacities are one
// JSON object, read by the destination's id: a join with an array would compare each destination with each capacity.
const claimDue = defineStatement<LeasedDelivery>(
  'deliveries_claim',
  `WITH RECURSIVE destination (id) AS (
     (SELECT destination_id FROM deliveries
      WHERE storage <> 'ended' AND state = 'due' AND NOT leased AND destination_id > $1
      ORDER BY destination_id LIMIT 1)
     UNION ALL
     SELECT (SELECT destination_id FROM deliveries
             WHERE storage <> 'ended' AND state = 'due' AND NOT leased
               AND destination_id > destination.id
             ORDER BY destination_id LIMIT 1)
     FROM destination WHERE destination.id IS NOT NULL
   ), picked AS MATERIALIZED (
     SELECT due.id, due.event_id
     FROM destination CROSS JOIN LATERAL (
       SELECT d.id, d.event_id FROM deliveries AS d
       WHERE d.storage <> 'ended' AND d.state = 'due' AND NOT d.leased
         AND d.destination_id = destination.id AND d.next_attempt_at <= now()
       ORDER BY d.next_attempt_at LIMIT coalesce(($2::jsonb ->> destination.id::text)::int, $3) FOR UPDATE SKIP LOCKED
     ) AS due
     WHERE (SELECT s.disabled_at FROM destination_states AS s
       WHERE s.destination_id = destination.id) IS NULL
       AND (SELECT b.destination_id FROM open_breakers AS b
       WHERE b.destination_id = destination.id) IS NULL
     LIMIT $4
   )
   UPDATE deliveries AS d
   SET leased = true, fence = d.fence + 1, next_attempt_at = now() + $5 * interval '1 ms'
   FROM picked ${messageOfSql('picked')}
   WHERE d.storage <> 'ended' AND d.id = ANY (ARRAY[picked.id])
   RETURNING ${LEASED_COLUMNS}`,
);

export interface ClaimRequest {
  /** Only destinations whose ids sort after this one. */
  readonly after: string;
  /** How many deliveries each destination may have. */
  readonly capacities: ReadonlyMap<string, number>;
  /** How many each destination that `capacities` does not name may have. */
  readonly otherCapacity: number;
  readonly limit: number;
  readonly leaseMs: number;
}

/** Leases due deliveries, destination by destination in the order of the ids. */
export function claimDueQuery(request: ClaimRequest): Query<LeasedDelivery[]> {
  const { after, capacities, otherCapacity, limit, leaseMs } = request;
  const byDestination = JSON.stringify(Object.fromEntries(capacities));
  return claimDue.query([after, byDestination, otherCapacity, limit, leaseMs]);
}

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

// After a wait for the lock of another promotion the delivery is no longer 'waiting': it is leased to whoever ran that one.
const promoteNext = defineStatement<LeasedDelivery & { leased: boolean }>(
  'deliveries_promote',
  `WITH next AS MATERIALIZED (
     SELECT first.id, first.event_id, (SELECT s.disabled_at FROM destination_states AS s
       WHERE s.destination_id = lane.destination_id) IS NULL AS is_enabled
     FROM unnest($1::uuid[], $2::uuid[]) AS lane (application_id, destination_id)
     CROSS JOIN LATERAL (
       SELECT d.id, d.event_id, d.state FROM deliveries AS d
       WHERE d.storage <> 'ended' AND d.application_id = lane.application_id AND d.destination_id = lane.destination_id
         AND (d.state IN ('waiting', 'due')) IS TRUE AND d.holding
       ORDER BY d.position LIMIT 1
     ) AS first
     WHERE first.state = 'waiting'
   )
   UPDATE deliveries AS d
   SET state = 'due', leased = next.is_enabled, fence = d.fence + 1,
     next_attempt_at = now() + next.is_enabled::int * $3 * interval '1 ms'
   FROM next ${messageOfSql('next')}
   WHERE d.storage <> 'ended' AND d.id = ANY (ARRAY[next.id])
     AND (d.state = 'waiting') IS TRUE
   RETURNING d.leased, ${LEASED_COLUMNS}`,
);

/**
 * Makes the next delivery of each lane due when no other one holds the lane, and leases it unless its
 * destination is disabled; returns those that are leased.
 *
 * Must run in the transaction that may have ended the hold, as a later statement: only a later statement sees the
 * deliveries that were inserted behind the hold in the meantime.
 */
export function promoteNextQuery(lanes: readonly Lane[], leaseMs: number): Query<LeasedDelivery[]> {
  const byKey = new Map(lanes.map((lane) => [laneKey(lane), lane] as const));
  const distinct = [...byKey.values()];
  const query = promoteNext.query([
    distinct.map(({ orderingKey }) => orderingKey),
    distinct.map(({ destinationId }) => destinationId),
    leaseMs,
  ]);
  return mapQueryResult(query, (promoted) => promoted.filter(({ leased }) => leased));
}

// A lane has two due deliveries that hold it only after the replay of the earlier one. Two transactions that end
// the two at once would each find the other one due and promote nothing, and the lane would wait for ever. So the
// one that ends the replayed delivery locks the later one, too: then the last of the two sees what both have ended.
const ENDED_AND_LATER_DUE = `SELECT id FROM ended
     UNION
     SELECT later.id FROM ended CROSS JOIN LATERAL (
       SELECT d.id FROM deliveries AS d
       WHERE ended.replays > 0 AND d.storage <> 'ended' AND d.application_id = ended.application_id
         AND d.destination_id = ended.destination_id AND d.position > ended.position
         AND (d.state = 'due') IS TRUE AND d.holding
       OFFSET 0
     ) AS later`;

const lockReplayedLanes = defineStatement(
  'deliveries_lock_replayed',
  `WITH ended AS MATERIALIZED (
     SELECT id, application_id, destination_id, position, replays FROM deliveries
     WHERE storage <> 'ended' AND id = ANY ($1::uuid[])
   ), to_lock AS MATERIALIZED (
     ${ENDED_AND_LATER_DUE}
   )
   SELECT FROM to_lock JOIN deliveries AS d ON d.id = ANY (ARRAY[to_lock.id]) AND d.storage <> 'ended'
   ORDER BY (d.application_id, d.destination_id, d.position) FOR UPDATE OF d`,
);

/**
 * Locks deliveries, and the later due ones in the lanes of those that were replayed. Must run before the statement
 * that ends one of them, in its transaction.
 */
export function lockReplayedLanesQuery(deliveries: readonly LeasedDelivery[]): Query<unknown> {
  return lockReplayedLanes.query([idsOf(deliveries)]);
}

const hasExpiredHolds = defineStatement<{ any: boolean }>(
  'deliveries_held_too_long',
  `SELECT EXISTS (SELECT FROM deliveries
     WHERE storage <> 'ended' AND state = 'due' AND holding AND hold_until <= now()) AS any`,
);

/** Whether a hold is to be ended. */
export function hasExpiredHoldsQuery(): Query<boolean> {
  return mapQueryResult(hasExpiredHolds.query(), ([row]) => row?.any === true);
}

// A lane with a delivery that another transaction has locked is left out, so that it does not keep the holds of all
// others from ending. A lane is left out as a whole: its later delivery must be locked too, as in ENDED_AND_LATER_DUE.
//
// In the order of `hold_until`, its index gives the first rows at once. In the order of the lanes, a planner that expects many
// expired holds takes the lanes' index, and reads the whole queue for the few that there are: 20,153 blocks of 20,000 rows.
const endExpiredHolds = defineStatement<Lane>(
  'deliveries_end_holds',
  `WITH ended AS MATERIALIZED (
     SELECT id, application_id, destination_id, position, replays FROM deliveries
     WHERE storage <> 'ended' AND state = 'due' AND holding AND hold_until <= now()
     ORDER BY hold_until LIMIT $1
   ), to_lock AS MATERIALIZED (
     ${ENDED_AND_LATER_DUE}
   ), locked AS MATERIALIZED (
     SELECT d.id FROM to_lock JOIN deliveries AS d ON d.id = ANY (ARRAY[to_lock.id]) AND d.storage <> 'ended'
     ORDER BY (d.application_id, d.destination_id, d.position) FOR UPDATE OF d SKIP LOCKED
   ), left_out AS MATERIALIZED (
     SELECT d.application_id, d.destination_id FROM to_lock
     JOIN deliveries AS d ON d.id = ANY (ARRAY[to_lock.id]) AND d.storage <> 'ended'
     WHERE to_lock.id NOT IN (SELECT id FROM locked)
   )
   UPDATE deliveries AS d SET holding = false
   FROM locked
   WHERE d.storage <> 'ended' AND d.id = ANY (ARRAY[locked.id])
     AND (d.state = 'due' AND d.holding AND d.hold_until <= now()) IS TRUE
     AND (d.application_id, d.destination_id) NOT IN (SELECT application_id, destination_id FROM left_out)
   RETURNING d.application_id AS "orderingKey", d.destination_id AS "destinationId"`,
);

/**
 * Ends the holds of deliveries that have failed, or lacked their content, for too long, `limit` at most, and returns their
 * lanes. A lane in which another transaction has locked one of these deliveries keeps its hold until a later call.
 */
export function endExpiredHoldsQuery(limit: number): Query<Lane[]> {
  return endExpiredHolds.query([limit]);
}

const unsettled = defineStatement<{ any: boolean }>(
  'deliveries_unsettled',
  `SELECT EXISTS (SELECT FROM deliveries
       WHERE storage <> 'ended' AND state = 'due' AND (leased OR next_attempt_at <= now()))
       OR EXISTS (SELECT FROM replay_jobs WHERE finished_at IS NULL) AS any`,
);

/** Whether any delivery is due, leased or to be replayed, by whichever process. */
export async function hasUnsettledDeliveries(db: Queryable): Promise<boolean> {
  const [row] = await unsettled.run(db);
  return row?.any === true;
}

const idsOf = (deliveries: readonly LeasedDelivery[]) => deliveries.map(({ id }) => id);
const fencesOf = (deliveries: readonly LeasedDelivery[]) => deliveries.map(({ fence }) => fence);
