/**
 * The SQL of retention: deliveries and replay jobs are kept for 30 days after their end, attempts with their answers and messages
 * while a delivery of their day is.
 */
import type { DayPartitions } from '@creditlane/postgres/partitions/day-partitions';
import {
  definePurge,
  deleteOlderThanSql,
  PURGE_BATCH_ROWS,
  type Purge,
} from '@creditlane/postgres/retention';
import { defineStatement } from '@creditlane/postgres/statement';
import { firstIdOfTime } from '@creditlane/runtime/ids';
import { insertEndedSql } from './ended-deliveries.ts';

const KEPT_DAYS = 30;

/**
 * Stores as ended what a replica of an earlier version has ended and left in the queue. Only rows that ended five minutes
 * ago: a replica of the earlier version may still write the result of a request to a younger one.
 */
export const moveEnded: Purge = defineStatement(
  'deliveries_move_ended',
  `WITH ended AS (
     DELETE FROM deliveries_queue WHERE id = ANY (ARRAY(
       SELECT id FROM deliveries_queue WHERE state IN ('delivered', 'dead')
         AND coalesce(settled_at, '-infinity') < now() - interval '5 minutes'
       LIMIT ${PURGE_BATCH_ROWS} FOR UPDATE SKIP LOCKED))
     RETURNING *
   ), stored AS (
     ${insertEndedSql({ state: 'state', reason: 'reason', settledAt: 'coalesce(settled_at, now())' })}
   )
   SELECT count(*) AS purged FROM ended`,
);

/** Returns the SQL of the deliveries whose `column` begins with a time of the day. */
const deliveriesOfDay =
  (column: 'id' | 'event_id'): NonNullable<DayPartitions['retainingRowsSql']> =>
  ({ fromMs, beforeMs }) =>
    `SELECT FROM deliveries
     WHERE ${column} >= '${firstIdOfTime(fromMs)}' AND ${column} < '${firstIdOfTime(beforeMs)}'`;

/**
 * Deliveries are in the partition of the day on which they ended. Attempts and messages are in those of the days in which their
 * deliveries and events were made, and are kept while a delivery of that day is: mostly four days longer, until the
 * deliveries that died after all their retries are gone, and longer after a replay.
 */
export const PARTITIONS: readonly DayPartitions[] = [
  { table: 'deliveries_ended', key: 'timestamptz', retentionDays: KEPT_DAYS },
  {
    table: 'attempts_by_day',
    key: 'uuid',
    retentionDays: KEPT_DAYS,
    retainingRowsSql: deliveriesOfDay('id'),
  },
  {
    table: 'attempt_answers',
    key: 'uuid',
    retentionDays: KEPT_DAYS,
    retainingRowsSql: deliveriesOfDay('id'),
  },
  {
    table: 'messages_by_day',
    key: 'uuid',
    retentionDays: KEPT_DAYS,
    retainingRowsSql: deliveriesOfDay('event_id'),
  },
];

/** What is in the default partitions: of ids that begin with no time, or with one that has no partition. */
export const purgesOfRowsWithoutDay: readonly Purge[] = [
  definePurge(
    'deliveries_purge',
    deleteOlderThanSql('deliveries_ended_default', 'settled_at', `${KEPT_DAYS} days`),
  ),
  definePurge(
    'attempts_purge',
    `DELETE FROM attempts_by_day_default AS a WHERE (delivery_id, number) IN (
       SELECT delivery_id, number FROM attempts_by_day_default AS old
       WHERE started_at < now() - interval '${KEPT_DAYS} days'
         AND NOT EXISTS (SELECT FROM deliveries AS d WHERE d.id = old.delivery_id) LIMIT ${PURGE_BATCH_ROWS})`,
  ),
  definePurge(
    'attempt_answers_purge',
    `DELETE FROM attempt_answers_default WHERE (delivery_id, started_at) IN (
       SELECT delivery_id, started_at FROM attempt_answers_default AS old
       WHERE started_at < now() - interval '${KEPT_DAYS} days'
         AND NOT EXISTS (SELECT FROM deliveries AS d WHERE d.id = old.delivery_id) LIMIT ${PURGE_BATCH_ROWS})`,
  ),
  definePurge(
    'messages_purge',
    `DELETE FROM messages_by_day_default AS m WHERE event_id IN (
       SELECT event_id FROM messages_by_day_default AS old
       WHERE recorded_at < now() - interval '${KEPT_DAYS} days'
         AND NOT EXISTS (SELECT FROM deliveries AS d WHERE d.event_id = old.event_id) LIMIT ${PURGE_BATCH_ROWS})`,
  ),
];

export const purgeReplayJobs: Purge = definePurge(
  'replay_jobs_purge',
  `DELETE FROM replay_jobs WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM replay_jobs
     -- The condition on requested_at, which is never after finished_at, makes use of its index.
     WHERE requested_at < now() - interval '${KEPT_DAYS} days' AND finished_at < now() - interval '${KEPT_DAYS} days'
     LIMIT ${PURGE_BATCH_ROWS}))`,
);
