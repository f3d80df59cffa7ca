/** The SQL of retention: deliveries and replays are kept for 30 days after their end. */
import { definePurge, type Purge } from '@creditlane/postgres/retention';
import { defineStatement } from '@creditlane/postgres/statement';

export const purgeDeliveries: Purge = defineStatement(
  'deliveries_purge',
  `WITH old AS (
     SELECT id FROM deliveries
     -- The condition on created_at, which is never after settled_at, makes use of its index.
     WHERE created_at < now() - interval '30 days' AND settled_at < now() - interval '30 days'
       AND state IN ('delivered', 'dead') LIMIT 1000
     -- A delivery that is being replayed is kept.
     FOR UPDATE SKIP LOCKED
   ), deleted_attempt AS (
     DELETE FROM attempts USING old WHERE attempts.delivery_id = old.id
   ), deleted_delivery AS (
     DELETE FROM deliveries USING old WHERE deliveries.id = old.id RETURNING 1
   )
   SELECT count(*) AS deleted FROM deleted_delivery`,
);

/** A message is deleted after the last of its deliveries. */
export const purgeMessages: Purge = defineStatement(
  'messages_purge',
  `WITH old AS (
     SELECT event_id FROM messages AS m
     WHERE recorded_at < now() - interval '30 days'
       AND NOT EXISTS (SELECT FROM deliveries AS d WHERE d.event_id = m.event_id) LIMIT 1000
   ), deleted_message AS (
     DELETE FROM messages USING old WHERE messages.event_id = old.event_id RETURNING 1
   )
   SELECT count(*) AS deleted FROM deleted_message`,
);

export const purgeReplayJobs: Purge = definePurge(
  'replay_jobs_purge',
  `DELETE FROM replay_jobs WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM replay_jobs
     -- The condition on requested_at, which is never after finished_at, makes use of its index.
     WHERE requested_at < now() - interval '30 days' AND finished_at < now() - interval '30 days'
     LIMIT 1000))`,
);
