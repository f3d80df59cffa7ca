/** The SQL of replay jobs: what was asked, and how far each job is. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { NIL_UUID } from '@creditlane/runtime/ids';

export type ReplayJobState = 'counting' | 'running' | 'completed' | 'stopped' | 'cancelled';

/** Which deliveries of a destination are replayed. */
export interface ReplayFilter {
  readonly deliveryState: 'delivered' | 'dead';
  /** The name of the event type; null: any. */
  readonly event: string | null;
  readonly createdFrom: Date | null;
  readonly createdBefore: Date | null;
}

export interface ReplayJobRow extends ReplayFilter {
  readonly id: string;
  /** The integration that asked for the job. */
  readonly integrationId: string;
  readonly destinationId: string;
  readonly state: ReplayJobState;
  /** Why the job was stopped: a stable word. */
  readonly reason: string | null;
  readonly matched: number;
  readonly replayed: number;
  readonly skipped: number;
  readonly requestedAt: Date;
  readonly finishedAt: Date | null;
}

const COLUMNS = `id, integration_id AS "integrationId", destination_id AS "destinationId",
     delivery_state AS "deliveryState", event, created_from AS "createdFrom",
     created_before AS "createdBefore", state, reason, matched, replayed, skipped,
     requested_at AS "requestedAt", finished_at AS "finishedAt"`;
/** SQL of an id that sorts before every id of a delivery. */
export const FIRST_ID = `'${NIL_UUID}'`;

const insertJob = defineStatement<ReplayJobRow>(
  'replay_job_insert',
  `INSERT INTO replay_jobs (id, integration_id, destination_id, delivery_state, event, created_from,
     created_before, cursor_created_at, cursor_id)
   VALUES ($1, $2, $3, $4, $5, $6::timestamptz, $7, coalesce($6::timestamptz, '-infinity'), ${FIRST_ID})
   ON CONFLICT (destination_id) WHERE finished_at IS NULL DO NOTHING
   RETURNING ${COLUMNS}`,
);

/** Stores a job; undefined when another job of the destination is not finished. */
export async function insertReplayJob(
  tx: Queryable,
  job: Pick<ReplayJobRow, 'id' | 'integrationId' | 'destinationId'> & ReplayFilter,
): Promise<ReplayJobRow | undefined> {
  const { id, integrationId, destinationId, deliveryState, event, createdFrom, createdBefore } =
    job;
  const filter = [deliveryState, event, createdFrom, createdBefore];
  const [inserted] = await insertJob.run(tx, [id, integrationId, destinationId, ...filter]);
  return inserted;
}

const selectUnfinished = defineStatement<{ id: string }>(
  'replay_job_unfinished',
  'SELECT id FROM replay_jobs WHERE destination_id = $1 AND finished_at IS NULL',
);

/** The id of the destination's job that is not finished. */
export async function findUnfinishedReplayJob(
  db: Queryable,
  destinationId: string,
): Promise<string | undefined> {
  const [row] = await selectUnfinished.run(db, [destinationId]);
  return row?.id;
}

const selectJob = defineStatement<ReplayJobRow>(
  'replay_job_find',
  `SELECT ${COLUMNS} FROM replay_jobs WHERE id = $1 AND integration_id = $2`,
);

/** The job with this id, if the integration asked for it. */
export async function findReplayJob(
  db: Queryable,
  id: string,
  integrationId: string,
): Promise<ReplayJobRow | undefined> {
  const [job] = await selectJob.run(db, [id, integrationId]);
  return job;
}

/** A job that is not finished, and the time until its next slice; 0 when the slice is due. */
export interface NextReplayJob {
  readonly id: string;
  readonly destinationId: string;
  readonly state: ReplayJobState;
  readonly dueInMs: number;
}

const selectNext = defineStatement<NextReplayJob>(
  'replay_jobs_next',
  `SELECT id, destination_id AS "destinationId", state,
     greatest(0, ceil(extract(epoch FROM next_slice_at - now()) * 1000))::int AS "dueInMs"
   FROM replay_jobs WHERE finished_at IS NULL ORDER BY next_slice_at LIMIT $1`,
);

/** The unfinished jobs whose slices are due first. */
export function findNextReplayJobs(db: Queryable, limit: number): Promise<NextReplayJob[]> {
  return selectNext.run(db, [limit]);
}

const lockRunning = defineStatement<ReplayJobRow>(
  'replay_job_lock',
  `SELECT ${COLUMNS} FROM replay_jobs
   WHERE id = $1 AND state = 'running' AND next_slice_at <= now() FOR UPDATE SKIP LOCKED`,
);

/** Locks a job whose next slice is due; undefined when another process has it. */
export async function lockReplayJob(tx: Queryable, id: string): Promise<ReplayJobRow | undefined> {
  const [job] = await lockRunning.run(tx, [id]);
  return job;
}

// Of a completed job, the deliveries that were counted and not found again are skipped: they were replayed
// one by one meanwhile, or their time of retention is over.
const endJob = defineStatement<ReplayJobRow>(
  'replay_job_end',
  `UPDATE replay_jobs
   SET state = $2, reason = $3, finished_at = now(), matched = greatest(matched, replayed + skipped),
     skipped = CASE WHEN $2 = 'completed' THEN greatest(skipped, matched - replayed) ELSE skipped END
   WHERE id = $1 AND finished_at IS NULL RETURNING ${COLUMNS}`,
);

/** Ends a job; undefined when it has ended before. */
export async function endReplayJob(
  db: Queryable,
  id: string,
  state: 'completed' | 'stopped' | 'cancelled',
  reason?: string,
): Promise<ReplayJobRow | undefined> {
  const [ended] = await endJob.run(db, [id, state, reason ?? null]);
  return ended;
}
