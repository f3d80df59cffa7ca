/** The SQL that leases due deliveries. See pending-deliveries.ts for the form of the statements. */
import { defineStatement, type Query } from '@creditlane/postgres/statement';
import type { LeasedDelivery } from '../../queue/delivery.ts';
import { LEASED_COLUMNS, messageOfSql } from './pending-deliveries.ts';

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
       AND (SELECT r.destination_id FROM destination_rates AS r
       WHERE r.destination_id = destination.id) IS NULL
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

/**
 * Leases due deliveries, destination by destination in the order of the ids. Left out are those with an open circuit breaker and those
 * with a rate limit, which are claimed by breakers.ts and rates.ts.
 */
export function claimDueQuery(request: ClaimRequest): Query<LeasedDelivery[]> {
  const { after, capacities, otherCapacity, limit, leaseMs } = request;
  const byDestination = JSON.stringify(Object.fromEntries(capacities));
  return claimDue.query([after, byDestination, otherCapacity, limit, leaseMs]);
}
