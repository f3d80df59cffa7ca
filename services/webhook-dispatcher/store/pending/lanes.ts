/** The SQL that keeps the order within a lane, and ends holds. See pending-deliveries.ts for the form of the statements. */
import { defineStatement, mapQueryResult, type Query } from '@creditlane/postgres/statement';
import { type Lane, type LeasedDelivery, laneKey } from '../../queue/delivery.ts';
import { idsOf, LEASED_COLUMNS, messageOfSql } from './pending-deliveries.ts';

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
