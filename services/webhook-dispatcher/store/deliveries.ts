/** The SQL of deliveries under way: claiming, recording, ordering, and giving up. */
import { defineStatement, type Query, type Queryable } from '@creditlane/postgres/statement';
import { laneKey } from '../intake/plan.ts';
import type { Delivery } from '../queue/delivery.ts';

/** An application and a destination, whose deliveries go in order. */
export type Lane = Pick<Delivery, 'applicationId' | 'destinationId'>;

const DELIVERY = `d.id, d.fence, d.attempts, d.application_id AS "applicationId",
  d.destination_id AS "destinationId", d.sequence,
  m.event, m.body, m.recorded_at AS "recordedAt", m.traceparent`;

// Goes from destination to destination by the index, so that however much is due for one, the others
// are found at once; `room` says how much each may give. SKIP LOCKED lets replicas share the work.
const claim = defineStatement<Delivery>(
  'deliveries_claim',
  `WITH RECURSIVE destination (id) AS (
     (SELECT destination_id FROM deliveries
      WHERE state = 'due' AND destination_id > $1 ORDER BY destination_id LIMIT 1)
     UNION ALL
     SELECT (SELECT destination_id FROM deliveries
             WHERE state = 'due' AND destination_id > destination.id
             ORDER BY destination_id LIMIT 1)
     FROM destination WHERE destination.id IS NOT NULL
   ), room AS (
     SELECT * FROM unnest($2::uuid[], $3::int[]) AS r (id, room)
   ), picked AS MATERIALIZED (
     SELECT due.id
     FROM destination LEFT JOIN room ON room.id = destination.id
     CROSS JOIN LATERAL (
       SELECT d.id FROM deliveries AS d
       WHERE d.state = 'due' AND d.destination_id = destination.id AND d.next_attempt_at <= now()
       ORDER BY d.next_attempt_at LIMIT coalesce(room.room, $4) FOR UPDATE SKIP LOCKED
     ) AS due
     LIMIT $5
   )
   UPDATE deliveries AS d
   SET leased = true, fence = d.fence + 1, next_attempt_at = now() + $6 * interval '1 ms'
   FROM picked, messages AS m
   WHERE d.id = picked.id AND m.event_id = d.event_id
   RETURNING ${DELIVERY}`,
);

/** Leases due deliveries of destinations after `after`, as many as there is room for. */
export function claimDue(
  db: Queryable,
  request: {
    after: string;
    room: ReadonlyMap<string, number>;
    otherRoom: number;
    limit: number;
    leaseMs: number;
  },
): Promise<Delivery[]> {
  const { after, room, otherRoom, limit, leaseMs } = request;
  return claim.run(db, [after, [...room.keys()], [...room.values()], otherRoom, limit, leaseMs]);
}

const renew = defineStatement<{ id: string }>(
  'deliveries_renew',
  `WITH held AS (
     SELECT d.id FROM deliveries AS d
     JOIN unnest($1::uuid[], $2::int[]) AS h (id, fence) ON h.id = d.id AND h.fence = d.fence
     WHERE d.state = 'due' AND d.leased
     ORDER BY d.application_id, d.destination_id, d.position FOR UPDATE OF d
   )
   UPDATE deliveries AS d SET next_attempt_at = now() + $3 * interval '1 ms'
   FROM held WHERE d.id = held.id RETURNING d.id`,
);

/** Prolongs the leases that are still ours and gives their ids. */
export async function renewLeases(
  db: Queryable,
  held: readonly Delivery[],
  leaseMs: number,
): Promise<Set<string>> {
  const rows = await renew.run(db, [ids(held), fences(held), leaseMs]);
  return new Set(rows.map(({ id }) => id));
}

const release = defineStatement(
  'deliveries_release',
  `UPDATE deliveries AS d
   SET leased = false, fence = d.fence + 1, next_attempt_at = now() + $3 * interval '1 ms'
   FROM unnest($1::uuid[], $2::int[]) AS h (id, fence)
   WHERE d.id = h.id AND d.fence = h.fence AND d.state = 'due'`,
);

/** Gives deliveries back without an attempt; they are due again after `delayMs`. */
export function releasingLeases(held: readonly Delivery[], delayMs: number): Query<unknown> {
  return release.query([ids(held), fences(held), delayMs]);
}

const promote = defineStatement<Delivery>(
  'deliveries_promote',
  `WITH next AS (
     SELECT first.id
     FROM unnest($1::uuid[], $2::uuid[]) AS lane (application_id, destination_id)
     CROSS JOIN LATERAL (
       SELECT d.id, d.state FROM deliveries AS d
       WHERE d.application_id = lane.application_id AND d.destination_id = lane.destination_id
         AND d.state IN ('waiting', 'due') AND d.holding
       ORDER BY d.position LIMIT 1
     ) AS first
     WHERE first.state = 'waiting'
   )
   UPDATE deliveries AS d
   SET state = 'due', leased = true, fence = d.fence + 1,
     next_attempt_at = now() + $3 * interval '1 ms'
   FROM next, messages AS m
   WHERE d.id = next.id AND m.event_id = d.event_id
   RETURNING ${DELIVERY}`,
);

/**
 * Makes the next delivery of each lane due, where nothing holds it back any more, and leases it. Runs
 * in the transaction that may have ended the hold, as a statement after it: only so does it see what
 * was added behind that one meanwhile.
 */
export function promotingNext(lanes: readonly Lane[], leaseMs: number): Query<Delivery[]> {
  const each = [
    ...new Map(
      lanes.map((lane) => [laneKey(lane.applicationId, lane.destinationId), lane]),
    ).values(),
  ];
  return promote.query([
    each.map(({ applicationId }) => applicationId),
    each.map(({ destinationId }) => destinationId),
    leaseMs,
  ]);
}

const endHolds = defineStatement<Lane>(
  'deliveries_end_holds',
  `WITH held AS (
     SELECT id FROM deliveries
     WHERE state = 'due' AND holding AND hold_until <= now()
     ORDER BY application_id, destination_id LIMIT $1 FOR UPDATE
   )
   UPDATE deliveries AS d SET holding = false FROM held WHERE d.id = held.id
   RETURNING d.application_id AS "applicationId", d.destination_id AS "destinationId"`,
);

/** Lets deliveries that have failed for too long hold nothing back any more; gives their lanes. */
export function endOldHolds(tx: Queryable, limit: number): Promise<Lane[]> {
  return endHolds.run(tx, [limit]);
}

const unsettled = defineStatement<{ due: boolean; next_attempt_at: Date | null }>(
  'deliveries_unsettled',
  `SELECT EXISTS (SELECT FROM deliveries
       WHERE state = 'due' AND (leased OR next_attempt_at <= now())) AS due,
     (SELECT min(next_attempt_at) FROM deliveries WHERE state = 'due') AS next_attempt_at`,
);

/** Whether anything is due or in anyone's hands, and when the next attempt is planned. */
export async function findUnsettled(
  db: Queryable,
): Promise<{ due: boolean; nextAttemptAt?: Date }> {
  const [row] = await unsettled.run(db);
  if (row === undefined) throw new Error('a query without a table gave no row');
  return { due: row.due, ...(row.next_attempt_at && { nextAttemptAt: row.next_attempt_at }) };
}

const ids = (deliveries: readonly Delivery[]) => deliveries.map(({ id }) => id);
const fences = (deliveries: readonly Delivery[]) => deliveries.map(({ fence }) => fence);
