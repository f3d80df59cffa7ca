/** The SQL that ends pending deliveries to a disabled or removed destination, slice by slice. */
import { defineStatement, type Query } from '@creditlane/postgres/statement';
import type { Lane } from '../../queue/delivery.ts';
import { insertEndedSql } from '../history/ended-deliveries.ts';

/** A delivery that has ended; slices are in the order of `createdAt` and `id`. */
export interface EndedDelivery extends Lane {
  readonly id: string;
  /** As PostgreSQL writes it, with its microseconds. */
  readonly createdAt: string;
}

export type EndReason = 'destination_disabled' | 'destination_removed';

/** The deliveries of a slice: those in the state after a position in the order of their creation. */
export interface EndSlice {
  readonly destinationId: string;
  readonly reason: EndReason;
  readonly state: 'waiting' | 'due';
  readonly after: Pick<EndedDelivery, 'createdAt' | 'id'>;
  readonly limit: number;
}

// The index deliveries_by_destination gives the order. The position after which a slice begins spares it the
// entries of earlier slices, which stay in the index while any old snapshot exists.
//
// A replayed delivery is left out while a later one of its lane is due, and a later round ends it. Otherwise a slice
// and a transaction that ends the later one could each find the other one's delivery due and promote nothing, and
// what waits behind both would wait for ever.
//
// ANY (ARRAY[…]): see pending-deliveries.ts.
const endSlice = defineStatement<EndedDelivery>(
  'deliveries_end_slice',
  `WITH picked AS MATERIALIZED (
     SELECT id FROM deliveries AS d
     WHERE storage <> 'ended' AND destination_id = $1 AND state = $2 AND (created_at, id) > ($3, $4)
       AND NOT (d.replays > 0 AND EXISTS (
         SELECT FROM deliveries AS later
         WHERE later.storage <> 'ended' AND later.application_id = d.application_id AND later.destination_id = $1
           AND later.position > d.position AND (later.state = 'due') IS TRUE AND later.holding))
       AND ($6 = 'destination_removed' OR EXISTS (
         SELECT FROM destination_states WHERE destination_id = $1 AND disabled_at IS NOT NULL))
     ORDER BY created_at, id LIMIT $5 FOR UPDATE SKIP LOCKED
   ), ended AS (
     DELETE FROM deliveries AS d USING picked
     WHERE d.storage <> 'ended' AND d.id = ANY (ARRAY[picked.id])
     RETURNING d.*
   ), stored AS (
     ${insertEndedSql({ state: `'dead'`, reason: '$6', settledAt: 'now()' })}
   )
   SELECT id, created_at::text AS "createdAt", application_id AS "orderingKey",
     destination_id AS "destinationId"
   FROM ended ORDER BY ended.created_at, id`,
);

/**
 * Makes the next pending deliveries to a destination dead, and returns them in their order. With the reason
 * `destination_disabled` it ends and returns none once the destination is enabled. Leaves out those that other
 * transactions have locked. If a request that is under way succeeds, its delivery still becomes delivered.
 */
export function endSliceQuery(slice: EndSlice): Query<EndedDelivery[]> {
  const { destinationId, state, after, limit, reason } = slice;
  return endSlice.query([destinationId, state, after.createdAt, after.id, limit, reason]);
}
