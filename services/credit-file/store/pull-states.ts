/**
 * The SQL of the pull worker: takes pulls by a lease, and advances their states. Every statement on a taken pull
 * compares the fence, which each owner raises, so that a former owner changes nothing.
 */
import type { ApplicantOfRetailer } from '@creditlane/crypto/applicant-keys';
import {
  defineStatement,
  mapQueryResult,
  type Query,
  type Queryable,
} from '@creditlane/postgres/statement';
import type { Consent, Failure, PullRow, State } from '../pulls/pull.ts';
import { PULL_COLUMNS } from './pulls.ts';

/** A pull that this process owns while the row has this fence. */
export interface OwnedPull extends PullRow {
  fence: number;
  /** The number of inquiries that were tried and never sent. */
  attempts: number;
  /** Of the request that made the pull. */
  traceparent: string | null;
}

/** A pull, and the fence under which a statement may change it. */
type FencedPull = Pick<OwnedPull, 'id' | 'fence'>;

const OWNED_COLUMNS = `${PULL_COLUMNS}, pulls.fence, pulls.attempts, pulls.traceparent`;

// A running pull whose lease has ended was never sent if it has no sent_at. All processes together run at most $3 pulls
// of one retailer and source, so that a retailer with many pulls keeps nobody waiting. Processes that take pulls at the
// same time may exceed that by as many as they take. SKIP LOCKED: another process is taking the row.
const takeDue = defineStatement<OwnedPull>(
  'pulls_take',
  `WITH due AS (
     SELECT id, retailer_id, source,
       row_number() OVER (PARTITION BY retailer_id, source ORDER BY due_at, id) AS place
     FROM pulls WHERE finished_at IS NULL AND due_at <= clock_timestamp() AND sent_at IS NULL
   ), running AS (
     SELECT retailer_id, source, count(*) AS count FROM pulls
     WHERE finished_at IS NULL AND state = 'RUNNING' AND due_at > clock_timestamp()
     GROUP BY retailer_id, source
   ), chosen AS (
     SELECT pulls.id FROM pulls JOIN due USING (id)
     LEFT JOIN running ON running.retailer_id = due.retailer_id AND running.source = due.source
     WHERE place + coalesce(count, 0) <= $3
       AND finished_at IS NULL AND due_at <= clock_timestamp() AND sent_at IS NULL
     ORDER BY due_at LIMIT $1 FOR UPDATE OF pulls SKIP LOCKED
   )
   UPDATE pulls SET state = 'RUNNING', fence = fence + 1,
     due_at = clock_timestamp() + $2 * interval '1 millisecond'
   FROM chosen WHERE pulls.id = chosen.id
   RETURNING ${OWNED_COLUMNS}`,
);

/** Takes up to `limit` pulls that are due, for `leaseMs`, and at most `share` of one retailer and source. */
export function takeDuePullsQuery({
  limit,
  share,
  leaseMs,
}: {
  limit: number;
  share: number;
  leaseMs: number;
}): Query<OwnedPull[]> {
  return takeDue.query([limit, leaseMs, share]);
}

const selectRetailersOfLost = defineStatement<{ retailer_id: string }>(
  'pulls_retailers_of_lost',
  `SELECT DISTINCT retailer_id FROM pulls
   WHERE finished_at IS NULL AND due_at <= clock_timestamp() AND sent_at IS NOT NULL
     AND id <> ALL ($1::uuid[])`,
);

/** The retailers with pulls whose owner died after it had sent the inquiry; `own` are pulls that this process runs. */
export function retailersOfLostQuery(own: readonly string[]): Query<string[]> {
  return mapQueryResult(selectRetailersOfLost.query([own]), (rows) =>
    rows.map(({ retailer_id }) => retailer_id),
  );
}

// The fence stays: the owner, if it still lives and has got the answer, may replace UNKNOWN by it.
const endLostRows = defineStatement<PullRow>(
  'pulls_end_lost',
  `WITH lost AS (
     SELECT id FROM pulls
     WHERE retailer_id = $1
       AND finished_at IS NULL AND due_at <= clock_timestamp() AND sent_at IS NOT NULL
       AND id <> ALL ($2::uuid[])
     FOR UPDATE SKIP LOCKED
   )
   UPDATE pulls SET state = 'UNKNOWN', due_at = NULL, finished_at = clock_timestamp()
   FROM lost WHERE pulls.id = lost.id
   RETURNING ${PULL_COLUMNS}`,
);

/**
 * Ends the retailer's pulls whose owner died after it had sent the inquiry: their outcome is unknown. The pulls in `own`
 * stay: this process runs them, and their leases may have ended while the database was away.
 */
export function endLostPulls(
  db: Queryable,
  retailerId: string,
  own: readonly string[],
): Promise<PullRow[]> {
  return endLostRows.run(db, [retailerId, own]);
}

const renew = defineStatement<{ id: string }>(
  'pulls_renew',
  `UPDATE pulls SET due_at = clock_timestamp() +
     CASE WHEN sent_at IS NULL THEN $3::integer ELSE $4::integer END * interval '1 millisecond'
   FROM unnest($1::uuid[], $2::integer[]) AS own (id, fence)
   WHERE pulls.id = own.id AND pulls.fence = own.fence AND state = 'RUNNING'
   RETURNING pulls.id`,
);

/** How long a pull is leased, before its inquiry is sent and from then on. */
export interface LeaseTimes {
  leaseMs: number;
  /** Longer than the whole inquiry: the owner records the answer before anybody calls the outcome unknown. */
  sentLeaseMs: number;
}

/** Extends the leases of these pulls. */
export async function renewLeases(
  db: Queryable,
  pulls: readonly FencedPull[],
  { leaseMs, sentLeaseMs }: LeaseTimes,
): Promise<void> {
  const ids = pulls.map(({ id }) => id);
  const fences = pulls.map(({ fence }) => fence);
  await renew.run(db, [ids, fences, leaseMs, sentLeaseMs]);
}

const markRowSent = defineStatement<{ id: string }>(
  'pull_mark_sent',
  `UPDATE pulls SET sent_at = clock_timestamp(), consent = $3,
     due_at = clock_timestamp() + $4 * interval '1 millisecond'
   WHERE id = $1 AND fence = $2 AND state = 'RUNNING' AND sent_at IS NULL
     AND due_at > clock_timestamp()
     AND EXISTS (SELECT FROM applicant_keys WHERE id = pulls.key_id AND destroyed_at IS NULL)
   RETURNING id`,
);

/**
 * Records that the inquiry is about to be sent, on this consent. False when the pull has another owner, the lease
 * has ended or the applicant was erased: then the inquiry must not be sent.
 */
export async function markSent(
  db: Queryable,
  { id, fence }: FencedPull,
  consent: Consent,
  sentLeaseMs: number,
): Promise<boolean> {
  const rows = await markRowSent.run(db, [id, fence, JSON.stringify(consent), sentLeaseMs]);
  return rows.length === 1;
}

const lockMarked = defineStatement<{ consent: Consent }>(
  'pull_lock_marked',
  `SELECT consent FROM pulls WHERE id = $1 AND fence = $2 AND sent_at IS NOT NULL
     AND state IN ('RUNNING', 'UNKNOWN') FOR UPDATE`,
);

/** Locks a pull that its owner has marked as sent, and resolves to the consent of the inquiry; undefined otherwise. */
export async function lockMarkedPull(
  tx: Queryable,
  { id, fence }: FencedPull,
): Promise<Consent | undefined> {
  const [row] = await lockMarked.run(tx, [id, fence]);
  return row?.consent;
}

const postponeRow = defineStatement<{ id: string }>(
  'pull_postpone',
  `UPDATE pulls SET state = 'REQUESTED', sent_at = NULL, attempts = attempts + $4::integer,
     due_at = clock_timestamp() + $3 * interval '1 millisecond'
   WHERE id = $1 AND fence = $2 AND state = 'RUNNING'
   RETURNING id`,
);

/** Gives back a pull whose inquiry was certainly never sent, to be tried again after `delayMs`. */
export async function postponePull(
  db: Queryable,
  { id, fence }: FencedPull,
  { delayMs, countsAsAttempt }: { delayMs: number; countsAsAttempt: boolean },
): Promise<boolean> {
  const rows = await postponeRow.run(db, [id, fence, delayMs, countsAsAttempt ? 1 : 0]);
  return rows.length === 1;
}

// `sent_at` stays when the bureau has got the inquiry. An UNKNOWN pull of the same owner gets its late answer.
const endRow = defineStatement<PullRow>(
  'pull_end',
  `UPDATE pulls SET state = $3, failure = $4, bureau_code = $6, due_at = NULL,
     finished_at = clock_timestamp(), sent_at = CASE WHEN $5 THEN sent_at END
   WHERE id = $1 AND fence = $2
     AND (state = 'RUNNING' OR (state = 'UNKNOWN' AND $3 <> 'UNKNOWN'))
   RETURNING ${PULL_COLUMNS}`,
);

interface PullEnding {
  state: State;
  failure?: Failure;
  bureauCode?: string | undefined;
  /** Whether the bureau has got the inquiry, or may have got it. */
  wasSent: boolean;
}

/** Ends a pull; undefined when it has another owner or has ended before. */
export async function endPull(
  tx: Queryable,
  { id, fence }: FencedPull,
  { state, failure, bureauCode, wasSent }: PullEnding,
): Promise<PullRow | undefined> {
  const values = [id, fence, state, failure ?? null, wasSent, bureauCode ?? null];
  const [row] = await endRow.run(tx, values);
  return row;
}

const selectEndedRow = defineStatement<PullRow>(
  'pull_find_own_ended',
  `SELECT ${PULL_COLUMNS} FROM pulls
   WHERE id = $1 AND fence = $2 AND state = $3 AND finished_at IS NOT NULL`,
);

/** The pull, if it has ended in this state under this fence. */
export async function findOwnEndedPull(
  tx: Queryable,
  { id, fence }: FencedPull,
  { state }: Pick<PullEnding, 'state'>,
): Promise<PullRow | undefined> {
  const [row] = await selectEndedRow.run(tx, [id, fence, state]);
  return row;
}

// The fence rises, so that the owner of a running pull cannot send its inquiry any more.
const endUnsentRows = defineStatement<PullRow>(
  'pulls_end_unsent',
  `UPDATE pulls SET state = 'FAILED', failure = 'CONSENT', fence = fence + 1, due_at = NULL,
     finished_at = clock_timestamp()
   WHERE applicant_id = $1 AND retailer_id = $2 AND finished_at IS NULL AND sent_at IS NULL
   RETURNING ${PULL_COLUMNS}`,
);

/** Ends the applicant's pulls whose inquiry was not sent; a pull that was sent goes on. */
export function endUnsentPulls(
  tx: Queryable,
  { applicantId, retailerId }: ApplicantOfRetailer,
): Promise<PullRow[]> {
  return endUnsentRows.run(tx, [applicantId, retailerId]);
}

const selectEnded = defineStatement<{ id: string }>(
  'pulls_ended',
  'SELECT id FROM pulls WHERE id = ANY ($1::uuid[]) AND finished_at IS NOT NULL',
);

/** Those of the pulls that have ended. */
export async function findEndedPulls(db: Queryable, ids: readonly string[]): Promise<string[]> {
  return (await selectEnded.run(db, [ids])).map(({ id }) => id);
}

// A pull that is due already does not count: the worker has taken it, or waits for something else than its time.
const selectNextDue = defineStatement<{ dueInMs: number }>(
  'pulls_next_due',
  `SELECT greatest(0, ceil(extract(epoch FROM min(due_at) - clock_timestamp()) * 1000))::bigint AS "dueInMs"
   FROM pulls WHERE finished_at IS NULL AND due_at > clock_timestamp() HAVING count(*) > 0`,
);

/** The time until the next pull becomes due; undefined when none will. */
export function nextDueMsQuery(): Query<number | undefined> {
  return mapQueryResult(selectNextDue.query(), ([row]) => row?.dueInMs);
}

interface UnfinishedCount {
  source: string;
  state: string;
  count: number;
}

const countUnfinished = defineStatement<UnfinishedCount>(
  'pulls_count_unfinished',
  `SELECT source, state, count(*) AS count FROM pulls
   WHERE finished_at IS NULL GROUP BY source, state`,
);

/** The number of pulls that have not ended, for each source and state that has any. */
export function countUnfinishedPulls(db: Queryable): Promise<UnfinishedCount[]> {
  return countUnfinished.run(db);
}

const selectOldest = defineStatement<{ ageS: number | null }>(
  'pulls_oldest_unfinished',
  `SELECT extract(epoch FROM clock_timestamp() - min(requested_at))::float8 AS "ageS"
   FROM pulls WHERE finished_at IS NULL`,
);

/** The age of the oldest pull that has not ended, in seconds; 0 without one. */
export async function ageOfOldestUnfinishedS(db: Queryable): Promise<number> {
  const [row] = await selectOldest.run(db);
  return row?.ageS ?? 0;
}
