/**
 * The SQL of a replay job's slices: which deliveries are next, and the locks that their order needs.
 * `application_id` holds the ordering key.
 */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { DeliveryStateName } from '../delivery-states.ts';
import { type EndTimes, endedWithinSql } from './history/end-times.ts';
import { FIRST_ID, type ReplayJobState } from './replay-jobs.ts';

/** A position in the order in which a job reads deliveries, as PostgreSQL writes its parts. */
export interface ReplayPosition {
  readonly createdAt: string;
  readonly id: string;
}

// Both statements below read the deliveries of a job by this SQL, so that exactly those are replayed that
// were counted. `settled_at` leaves out what became delivered or dead after the request, so that the job ends
// although its own replays may be dead again. In each partition an index begins with destination_id, state, created_at and
// id and gives the order, and PostgreSQL looks the message of each delivery up, because the subquery is scalar; it could hash an EXISTS,
// which reads the whole table of messages.
const SEARCHED = `SELECT d.id, d.created_at, d.settled_at, d.settled_at <= job.requested_at
       AND CASE WHEN job.event IS NULL THEN true
         ELSE (SELECT m.event FROM messages AS m WHERE m.event_id = d.event_id) = job.event
       END AS matches
     FROM job CROSS JOIN LATERAL (
       SELECT id, event_id, created_at, settled_at FROM deliveries
       WHERE destination_id = job.destination_id AND state = job.delivery_state
         AND (created_at, id) > (job.cursor_created_at, job.cursor_id)
         AND created_at < least(job.created_before, job.requested_at)
       ORDER BY created_at, id LIMIT $2
     ) AS d`;

const countMatches = defineStatement<{ state: ReplayJobState }>(
  'replay_job_count',
  `WITH job AS MATERIALIZED (
     SELECT * FROM replay_jobs
     WHERE id = $1 AND state = 'counting' AND next_slice_at <= now() FOR UPDATE SKIP LOCKED
   ), searched AS MATERIALIZED (
     ${SEARCHED}
   ), counted AS (
     SELECT count(*) FILTER (WHERE matches) AS matches, count(*) < $2 AS is_end FROM searched
   ), last AS (
     SELECT created_at, id FROM searched ORDER BY created_at DESC, id DESC LIMIT 1
   )
   UPDATE replay_jobs AS j
   SET matched = j.matched + counted.matches, next_slice_at = now(),
     state = CASE WHEN counted.is_end THEN 'running' ELSE 'counting' END,
     cursor_created_at = CASE WHEN counted.is_end THEN coalesce(j.created_from, '-infinity')
       ELSE last.created_at END,
     cursor_id = CASE WHEN counted.is_end THEN ${FIRST_ID} ELSE last.id END
   FROM job CROSS JOIN counted LEFT JOIN last ON true
   WHERE j.id = job.id RETURNING j.state`,
);

/**
 * Counts the deliveries that match a job among the next `limit`. At the end, the job is running, and its
 * cursor is at the beginning again. Undefined when there is nothing to count, or another process counts.
 */
export async function countReplaySlice(
  db: Queryable,
  id: string,
  limit: number,
): Promise<ReplayJobState | undefined> {
  const [counted] = await countMatches.run(db, [id, limit]);
  return counted?.state;
}

/** A delivery that was read for a job. */
export interface SearchedDelivery extends ReplayPosition {
  readonly settledAt: Date | null;
  readonly matches: boolean;
}

const search = defineStatement<SearchedDelivery>(
  'replay_job_search',
  `WITH job AS MATERIALIZED (
     SELECT * FROM replay_jobs WHERE id = $1
   ), searched AS MATERIALIZED (
     ${SEARCHED}
   )
   SELECT id, created_at::text AS "createdAt", settled_at AS "settledAt", matches
   FROM searched ORDER BY created_at, id`,
);

/** The next `limit` deliveries after the cursor of a job, whether they match it or not, oldest first. */
export function searchReplaySlice(
  tx: Queryable,
  id: string,
  limit: number,
): Promise<SearchedDelivery[]> {
  return search.run(tx, [id, limit]);
}

const advanceJob = defineStatement(
  'replay_job_advance',
  `UPDATE replay_jobs
   SET replayed = replayed + $2, skipped = skipped + $3,
     cursor_created_at = coalesce($4, cursor_created_at), cursor_id = coalesce($5, cursor_id),
     next_slice_at = now() + $6 * interval '1 ms'
   WHERE id = $1`,
);

/** What a slice did, and when the next one is due. */
export interface ReplayProgress {
  readonly replayed: number;
  readonly skipped: number;
  /** The last delivery that is done with; undefined when there is none. */
  readonly last: ReplayPosition | undefined;
  readonly delayMs: number;
}

/** Must run in the transaction that replays the deliveries of the slice. */
export async function advanceReplayJob(
  db: Queryable,
  id: string,
  { replayed, skipped, last, delayMs }: ReplayProgress,
): Promise<void> {
  const position = [last?.createdAt ?? null, last?.id ?? null];
  await advanceJob.run(db, [id, replayed, skipped, ...position, delayMs]);
}

const postpone = defineStatement(
  'replay_job_postpone',
  `UPDATE replay_jobs SET next_slice_at = now() + $2 * interval '1 ms' WHERE id = $1`,
);

export async function postponeReplayJob(db: Queryable, id: string, delayMs: number): Promise<void> {
  await postpone.run(db, [id, delayMs]);
}

const pending = defineStatement<{ due: number; waiting: number }>(
  'replay_pending',
  `SELECT (SELECT count(*) FROM (
       SELECT FROM deliveries
       WHERE storage <> 'ended' AND state = 'due' AND NOT leased AND destination_id = $1
         AND next_attempt_at <= now() LIMIT $2
     ) AS due) + (SELECT count(*) FROM (
       SELECT FROM deliveries
       WHERE storage <> 'ended' AND state = 'due' AND leased AND destination_id = $1
         AND next_attempt_at BETWEEN now() - $4 * interval '1 ms' AND now() + 2 * $4 * interval '1 ms'
       LIMIT $2
     ) AS leased) AS due,
     (SELECT count(*) FROM (
       SELECT FROM deliveries
       WHERE storage <> 'ended' AND state = 'waiting' AND destination_id = $1 LIMIT $3
     ) AS waiting) AS waiting`,
);

/**
 * How many deliveries to a destination are to be sent now, and how many wait for these: at most `maxDue` that are leased
 * and as many that are not, and at most `maxWaiting`. A lease lasts `leaseMs` at most, and may have begun after this
 * transaction, whose time is `now()`.
 */
export async function countPending(
  tx: Queryable,
  destinationId: string,
  { maxDue, maxWaiting, leaseMs }: { maxDue: number; maxWaiting: number; leaseMs: number },
): Promise<{ due: number; waiting: number }> {
  const [row] = await pending.run(tx, [destinationId, maxDue, maxWaiting, leaseMs]);
  if (row === undefined) throw new Error('a SELECT without FROM returns one row');
  return row;
}

/** A delivery to replay, or one that keeps its lane waiting. */
export interface LockedDelivery {
  readonly id: string;
  readonly orderingKey: string;
  readonly state: DeliveryStateName;
  readonly holding: boolean;
  readonly replays: number;
  /** Whether the body never matched its schema, so that the delivery has no number and was never sent. */
  readonly unsendable: boolean;
}

// OFFSET makes the planner look each lane up, where it otherwise may read the whole table. ANY (ARRAY[…]) and the order of a
// row do so for each delivery: see pending-deliveries.ts.
const lockLanesOf = defineStatement<LockedDelivery>(
  'replay_lock_lanes',
  `WITH wanted AS MATERIALIZED (
     SELECT id, application_id, position FROM deliveries AS d
     WHERE id = ANY ($2::uuid[]) AND ${endedWithinSql('d', '$3', '$4')}
   ), lane AS (
     SELECT application_id, max(position) AS last FROM wanted GROUP BY application_id
   ), to_lock AS MATERIALIZED (
     SELECT id FROM wanted
     UNION
     SELECT earlier.id FROM lane CROSS JOIN LATERAL (
       SELECT id FROM deliveries
       WHERE storage <> 'ended' AND application_id = lane.application_id AND destination_id = $1
         AND position < lane.last
         AND (state IN ('waiting', 'due')) IS TRUE AND holding
       OFFSET 0
     ) AS earlier
   )
   SELECT d.id, d.application_id AS "orderingKey", d.state, d.holding, d.replays,
     d.sequence IS NULL AS unsendable
   FROM to_lock JOIN deliveries AS d ON d.id = ANY (ARRAY[to_lock.id]) AND ${endedWithinSql('d', '$3', '$4')}
   ORDER BY (d.application_id, d.destination_id, d.position) FOR UPDATE OF d`,
);

/**
 * Locks deliveries to a destination, and every pending one that is earlier in their lanes and keeps its lane
 * waiting: without the lock, its result could be recorded before a replayed delivery waits behind it, and the
 * promotion of the next delivery would miss the replayed one. In the order of the results transaction, so
 * that the two cannot deadlock. A delivery may have another state than before the lock; one that was replayed alone
 * and has ended again at another time is not found.
 */
export function lockLanes(
  tx: Queryable,
  destinationId: string,
  ids: readonly string[],
  { from, to }: EndTimes,
): Promise<LockedDelivery[]> {
  return lockLanesOf.run(tx, [destinationId, ids, from, to]);
}
