/** How long deliveries are kept. */
import type { Purge } from '@creditlane/postgres/retention';
import { defineStatement } from '@creditlane/postgres/statement';

/** From the end of a delivery, whether it arrived or was given up. */
const KEPT = `interval '30 days'`;
const SLICE = 1_000;

export const purgeDeliveries: Purge = defineStatement(
  'deliveries_purge',
  `WITH old AS (
     SELECT id FROM deliveries
     -- No delivery ends before it begins, and the time of its beginning has an index.
     WHERE created_at < now() - ${KEPT} AND settled_at < now() - ${KEPT}
       AND state IN ('delivered', 'dead') LIMIT ${SLICE}
   ), logged AS (
     DELETE FROM attempts USING old WHERE attempts.delivery_id = old.id
   ), gone AS (
     DELETE FROM deliveries USING old WHERE deliveries.id = old.id RETURNING 1
   )
   SELECT count(*) AS deleted FROM gone`,
);

/** A body goes with the last delivery that needs it. */
export const purgeMessages: Purge = defineStatement(
  'messages_purge',
  `WITH old AS (
     SELECT event_id FROM messages AS m
     WHERE recorded_at < now() - ${KEPT}
       AND NOT EXISTS (SELECT FROM deliveries AS d WHERE d.event_id = m.event_id) LIMIT ${SLICE}
   ), gone AS (
     DELETE FROM messages USING old WHERE messages.event_id = old.event_id RETURNING 1
   )
   SELECT count(*) AS deleted FROM gone`,
);
