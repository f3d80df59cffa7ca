/** The SQL of requests for pulls: finds, inserts and lists the pulls of an applicant. */
import type { ApplicantOfRetailer } from '@creditlane/crypto/applicant-keys';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { Source } from '../bureaus/bureau.ts';
import type { EarlierPulls, PullRow } from '../pulls/pull.ts';
import type { ApplicantRef } from '../scope.ts';

export const PULL_COLUMNS = `pulls.id, pulls.retailer_id AS "retailerId",
     pulls.application_id AS "applicationId", pulls.applicant_id AS "applicantId", pulls.seq,
     pulls.source, pulls.state, pulls.failure, pulls.bureau_code AS "bureauCode", pulls.forced, pulls.request_key AS "callerRequestId",
     pulls.key_id AS "keyId", pulls.requested_by AS "requestedBy", pulls.request_id AS "requestId", pulls.consent,
     pulls.requested_at AS "requestedAt", pulls.sent_at AS "sentAt",
     pulls.finished_at AS "finishedAt"`;

const lockApplicant = defineStatement(
  'pull_lock_applicant',
  `SELECT pg_advisory_xact_lock(hashtextextended('pulls ' || $1::uuid, 0))`,
);

/**
 * Waits until no other transaction requests a pull for the applicant, and keeps others waiting until the
 * transaction ends. The first pull has no row to lock.
 */
export async function lockPullsOf(tx: Queryable, applicantId: string): Promise<void> {
  await lockApplicant.run(tx, [applicantId]);
}

const selectEarlier = defineStatement<PullRow & { role: keyof EarlierPulls }>(
  'pulls_earlier',
  `(SELECT 'sameRequest' AS role, ${PULL_COLUMNS} FROM pulls
    WHERE applicant_id = $2 AND application_id = $1 AND (request_key = $4 OR id = (
      SELECT pull_id FROM joined_requests WHERE applicant_id = $2 AND request_key = $4)))
   UNION ALL
   (SELECT 'unfinished', ${PULL_COLUMNS} FROM pulls
    WHERE applicant_id = $2 AND application_id = $1 AND source = $3 AND finished_at IS NULL)
   UNION ALL
   (SELECT 'latestComplete', ${PULL_COLUMNS} FROM pulls
    JOIN credit_files ON credit_files.pull_id = pulls.id
    JOIN applicant_keys ON applicant_keys.id = pulls.key_id AND destroyed_at IS NULL
    WHERE pulls.applicant_id = $2 AND pulls.application_id = $1 AND pulls.source = $3
      AND pulls.state = 'COMPLETE'
    ORDER BY pulls.seq DESC LIMIT 1)`,
);

/** @param callerRequestId null without one */
export async function findEarlierPulls(
  db: Queryable,
  { applicationId, applicantId }: ApplicantRef,
  source: Source,
  callerRequestId: string | null,
): Promise<EarlierPulls> {
  const rows = await selectEarlier.run(db, [applicationId, applicantId, source, callerRequestId]);
  const found = (name: keyof EarlierPulls) => rows.find(({ role }) => role === name);
  return {
    sameRequest: found('sameRequest'),
    unfinished: found('unfinished'),
    latestComplete: found('latestComplete'),
  };
}

/** A pull that is requested. */
export type NewPull = Omit<
  PullRow,
  'seq' | 'state' | 'failure' | 'bureauCode' | 'sentAt' | 'finishedAt' | 'requestedAt'
> & { traceparent: string | undefined };

const insertRow = defineStatement<PullRow>(
  'pull_insert',
  `INSERT INTO pulls (id, retailer_id, application_id, applicant_id, seq, last_request, source, state, forced,
     request_key, key_id, requested_by, request_id, consent, attempts, fence, due_at, requested_at, traceparent)
   SELECT $1, $2, $3, $4::uuid, coalesce(max(seq), 0) + 1,
     coalesce(max(last_request), 0) + 1, $5, 'REQUESTED', $6, $7, $8, $9, $10, $11, 0, 0,
     now(), now(), $12
   FROM pulls WHERE applicant_id = $4::uuid
   RETURNING ${PULL_COLUMNS}`,
);

/** Inserts a requested pull as the latest one of its applicant, whose pulls the transaction has locked. */
export async function insertPull(tx: Queryable, pull: NewPull): Promise<PullRow> {
  const [inserted] = await insertRow.run(tx, [
    pull.id,
    pull.retailerId,
    pull.applicationId,
    pull.applicantId,
    pull.source,
    pull.forced,
    pull.callerRequestId,
    pull.keyId,
    pull.requestedBy,
    pull.requestId,
    JSON.stringify(pull.consent),
    pull.traceparent ?? null,
  ]);
  if (inserted === undefined) throw new Error('an INSERT of one row returns one row');
  return inserted;
}

// A pull that is the last requested one stays as it is, so that repeated requests lock no row that the worker takes.
const updateLastRequest = defineStatement(
  'pull_join',
  `UPDATE pulls SET last_request = latest.last_request + 1
   FROM (SELECT max(last_request) AS last_request FROM pulls WHERE applicant_id = $2) AS latest
   WHERE id = $1 AND pulls.last_request < latest.last_request`,
);

/** Makes a pull the last requested one of its applicant, whose pulls the transaction has locked. */
export async function markLastRequested(
  tx: Queryable,
  { id, applicantId }: Pick<PullRow, 'id' | 'applicantId'>,
): Promise<void> {
  await updateLastRequest.run(tx, [id, applicantId]);
}

const insertJoined = defineStatement(
  'joined_request_insert',
  `INSERT INTO joined_requests (applicant_id, request_key, retailer_id, pull_id)
   VALUES ($1, $2, $3, $4)`,
);

/** Records that a caller's id of a request leads to this pull, which was requested with another id or without. */
export async function insertJoinedRequest(
  tx: Queryable,
  { id, applicantId, retailerId }: PullRow,
  callerRequestId: string,
): Promise<void> {
  await insertJoined.run(tx, [applicantId, callerRequestId, retailerId, id]);
}

const forgetIds = defineStatement(
  'request_keys_forget',
  `WITH joined AS (DELETE FROM joined_requests WHERE applicant_id = $1 AND retailer_id = $2)
   UPDATE pulls SET request_key = NULL
   WHERE applicant_id = $1 AND retailer_id = $2 AND request_key IS NOT NULL`,
);

/** Deletes the callers' own ids of all requests for the applicant, whose pulls the transaction has locked. */
export async function forgetCallerRequestIds(
  tx: Queryable,
  { applicantId, retailerId }: ApplicantOfRetailer,
): Promise<void> {
  await forgetIds.run(tx, [applicantId, retailerId]);
}

const forgetIdsOfErased = defineStatement(
  'request_keys_forget_erased',
  `WITH joined AS (
     DELETE FROM joined_requests AS joined USING applicant_erasures AS erased
     WHERE joined.applicant_id = erased.applicant_id AND joined.retailer_id = erased.retailer_id)
   UPDATE pulls SET request_key = NULL FROM applicant_erasures AS erased
   WHERE pulls.applicant_id = erased.applicant_id AND pulls.retailer_id = erased.retailer_id
     AND request_key IS NOT NULL`,
);

/**
 * As `forgetCallerRequestIds`, for all erased applicants: earlier versions left the ids at an erasure, and a restored
 * backup brings them back.
 */
export async function forgetCallerRequestIdsOfErased(db: Queryable): Promise<void> {
  await forgetIdsOfErased.run(db);
}

const selectLatest = defineStatement<PullRow>(
  'pull_latest',
  `SELECT ${PULL_COLUMNS} FROM pulls
   WHERE applicant_id = $2 AND application_id = $1 AND retailer_id = $3
     AND (state <> 'COMPLETE' OR EXISTS (SELECT FROM credit_files WHERE pull_id = pulls.id))
     AND NOT EXISTS (SELECT FROM applicant_keys WHERE id = pulls.key_id AND destroyed_at IS NOT NULL)
   ORDER BY last_request DESC LIMIT 1`,
);

/**
 * The last requested pull of the retailer's applicant. Pulls of before an erasure, and complete ones whose file was purged,
 * do not count. A request that joined a pull counts like the one that made it.
 */
export async function findLatestPull(
  db: Queryable,
  { applicationId, applicantId }: ApplicantRef,
  retailerId: string,
): Promise<PullRow | undefined> {
  const [row] = await selectLatest.run(db, [applicationId, applicantId, retailerId]);
  return row;
}

/** A pull with the hit type of its file; null without one. */
export type ListedPull = PullRow & { hitType: string | null };

const selectPage = defineStatement<ListedPull>(
  'pulls_list',
  `SELECT ${PULL_COLUMNS}, credit_files.hit_type AS "hitType"
   FROM pulls LEFT JOIN credit_files ON credit_files.pull_id = pulls.id
   WHERE pulls.applicant_id = $2 AND pulls.application_id = $1 AND pulls.retailer_id = $3
     AND pulls.seq < $4::bigint
   ORDER BY pulls.seq DESC LIMIT $5`,
);

/** At most `limit` pulls of the retailer's applicant with a sequence under `before`, newest first. */
export function findPulls(
  db: Queryable,
  { applicationId, applicantId }: ApplicantRef,
  retailerId: string,
  { before, limit }: { before: number; limit: number },
): Promise<ListedPull[]> {
  return selectPage.run(db, [applicationId, applicantId, retailerId, before, limit]);
}

const selectPull = defineStatement<PullRow>(
  'pull_find',
  `SELECT ${PULL_COLUMNS} FROM pulls WHERE id = $1`,
);

/** A pull of any retailer. */
export async function findPull(db: Queryable, id: string): Promise<PullRow | undefined> {
  const [row] = await selectPull.run(db, [id]);
  return row;
}

const selectAny = defineStatement<{ found: boolean }>(
  'pulls_any',
  'SELECT EXISTS (SELECT FROM pulls WHERE applicant_id = $1 AND retailer_id = $2) AS found',
);

/** Whether a pull about the retailer's applicant was ever requested. */
export async function hasPulls(
  db: Queryable,
  { applicantId, retailerId }: ApplicantOfRetailer,
): Promise<boolean> {
  const [row] = await selectAny.run(db, [applicantId, retailerId]);
  return row?.found === true;
}
