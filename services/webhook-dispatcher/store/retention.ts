/** The SQL of retention: deliveries and replays are kept for 30 days after their end. */
import type { DayPartitions } from '@creditlane/postgres/partitions/day-partitions';
import { definePurge, type Purge } from '@creditlane/postgres/retention';
import { defineStatement } from '@creditlane/postgres/statement';

/** The partitions by day are dropped as a whole; this is for the table of earlier versions and for days without a partition. */
export const purgeDeliveries: Purge = defineStatement(
  'deliveries_purge',
  `WITH without_day AS (
     SELECT id FROM deliveries_ended_default WHERE settled_at < now() - interval '30 days'
     -- A delivery whose replay has locked it leaves this table by the replay.
     LIMIT 1000 FOR UPDATE SKIP LOCKED
   ), earlier AS (
     SELECT id FROM deliveries
     -- The condition on created_at, which is never after settled_at, makes use of deliveries_earlier_age.
     WHERE storage = 'earlier' AND created_at < now() - interval '30 days'
       AND settled_at < now() - interval '30 days' AND state IN ('delivered', 'dead')
     LIMIT 1000 FOR UPDATE SKIP LOCKED
   ), old AS (
     SELECT id FROM without_day UNION ALL SELECT id FROM earlier
   ), deleted_attempt AS (
     DELETE FROM attempts USING old WHERE attempts.delivery_id = old.id
   ), deleted_without_day AS (
     DELETE FROM deliveries_ended_default AS d USING without_day WHERE d.id = without_day.id RETURNING 1
   ), deleted_earlier AS (
     DELETE FROM deliveries AS d USING earlier WHERE d.storage = 'earlier' AND d.id = earlier.id RETURNING 1
   )
   SELECT (SELECT count(*) FROM deleted_without_day) + (SELECT count(*) FROM deleted_earlier) AS deleted`,
);

// For some minutes a row stays where it is: the result of a request that was under way when the delivery became dead is
// written there by the replica of the earlier version, and would find nothing where it waits for a row that is deleted.

/** Stores as ended what a replica of an earlier version has ended and left in the queue. */
export const moveEnded: Purge = defineStatement(
  'deliveries_move_ended',
  `WITH ended AS (
     DELETE FROM deliveries_queue WHERE id = ANY (ARRAY(
       SELECT id FROM deliveries_queue WHERE state IN ('delivered', 'dead')
         AND coalesce(settled_at, '-infinity') < now() - interval '5 minutes'
       LIMIT 1000 FOR UPDATE SKIP LOCKED))
     RETURNING *
   ), stored AS (
     INSERT INTO deliveries_ended (id, position, event_id, destination_id, application_id, sequence,
       state, leased, fence, attempts, next_attempt_at, holding, hold_until, reason, created_at,
       settled_at, replays, earlier_attempts, replayed_at, storage)
     SELECT id, position, event_id, destination_id, application_id, sequence,
       state, false, fence, attempts, next_attempt_at, holding, hold_until, reason, created_at,
       coalesce(settled_at, now()), replays, earlier_attempts, replayed_at, 'ended'
     FROM ended
   )
   SELECT count(*) AS deleted FROM ended`,
);

/** The partitions are of the days on which deliveries ended. */
export const PARTITIONS: readonly DayPartitions[] = [
  { table: 'deliveries_ended', key: 'timestamptz', keepDays: 30 },
];

// The deliveries of a day are dropped when the last of them ended 30 days ago, and the first 31. The attempts and messages
// of younger ones are left out: each purge would look for their deliveries in all partitions, and find them.

/** Deletes the attempts at deliveries that were dropped with their days; the index on delivery_id gives the order. */
export const purgeAttempts: Purge = definePurge(
  'attempts_purge',
  `DELETE FROM attempts WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM attempts AS a
     WHERE delivery_id < rpad(lpad(
         to_hex((extract(epoch FROM now() - interval '31 days') * 1000)::bigint), 12, '0'), 32, '0')::uuid
       AND NOT EXISTS (SELECT FROM deliveries AS d WHERE d.id = a.delivery_id)
     ORDER BY delivery_id LIMIT 1000))`,
);

/** A message is deleted after the last of its deliveries. */
export const purgeMessages: Purge = defineStatement(
  'messages_purge',
  `WITH old AS (
     SELECT event_id FROM messages AS m
     WHERE recorded_at < now() - interval '31 days'
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
