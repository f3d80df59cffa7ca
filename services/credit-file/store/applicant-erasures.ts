/** Writes and finds the erasures of applicants. */

import type { ApplicantOfRetailer } from '@creditlane/crypto/applicant-keys';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { BackoffBounds } from '@creditlane/runtime/concurrency/backoff';
import type { AuditActor } from '../audit/audit-record.ts';

/** What the applications service has answered: whether the retailer has the applicant. */
export type ErasureOutcome = 'ERASED' | 'NOT_FOUND';

/** Who erases, and the X-Request-Id of a request that asked for it. */
export interface Eraser {
  actor: AuditActor;
  requestId?: string | undefined;
}

export type Erasure = ApplicantOfRetailer & Eraser;

/**
 * A repetition is due at once. It asks for the personal data again although an earlier one was finished: a backup of
 * the applications service may have been restored. An unfinished erasure keeps its actor and its time.
 */
const insertRow = defineStatement(
  'applicant_erasure_insert',
  `INSERT INTO applicant_erasures AS erasures
     (applicant_id, retailer_id, actor_kind, actor, request_id, requested_at, due_at)
   VALUES ($1, $2, $3, $4, $5, $6, now())
   ON CONFLICT (applicant_id, retailer_id) DO UPDATE SET outcome = NULL, due_at = now(), attempts = 0,
     actor_kind = CASE WHEN erasures.outcome IS NULL THEN erasures.actor_kind ELSE $3 END,
     actor = CASE WHEN erasures.outcome IS NULL THEN erasures.actor ELSE $4 END,
     request_id = CASE WHEN erasures.outcome IS NULL THEN erasures.request_id ELSE $5 END,
     requested_at = CASE WHEN erasures.outcome IS NULL THEN erasures.requested_at ELSE $6 END`,
);

/** Records an erasure that is to be finished. */
export async function insertErasure(
  tx: Queryable,
  { applicantId, retailerId, actor, requestId }: Erasure,
  at: Date,
): Promise<void> {
  const values = [applicantId, retailerId, actor.kind, actor.id, requestId ?? null, at];
  await insertRow.run(tx, values);
}

const repeatRows = defineStatement<{ repeated: number }>(
  'applicant_erasures_repeat',
  `WITH repeated AS (
     UPDATE applicant_erasures SET outcome = NULL, due_at = now(), attempts = 0,
       actor_kind = $1, actor = $2, request_id = NULL, requested_at = $3
     WHERE outcome IS NOT NULL RETURNING 1)
   SELECT count(*)::integer AS repeated FROM repeated`,
);

/** Makes every finished erasure an unfinished one of this actor; resolves to their number. */
export async function repeatErasures(db: Queryable, actor: AuditActor, at: Date): Promise<number> {
  const [row] = await repeatRows.run(db, [actor.kind, actor.id, at]);
  return row?.repeated ?? 0;
}

const selectRow = defineStatement<{ outcome: ErasureOutcome | null }>(
  'applicant_erasure_find',
  'SELECT outcome FROM applicant_erasures WHERE applicant_id = $1 AND retailer_id = $2',
);

/** Whether the applicant was erased, or is to be. */
export async function isErased(
  db: Queryable,
  { applicantId, retailerId }: ApplicantOfRetailer,
): Promise<boolean> {
  return (await selectRow.run(db, [applicantId, retailerId])).length > 0;
}

/** The outcome of an erasure; undefined while it is not finished. */
export async function findOutcome(
  db: Queryable,
  { applicantId, retailerId }: ApplicantOfRetailer,
): Promise<ErasureOutcome | undefined> {
  const [row] = await selectRow.run(db, [applicantId, retailerId]);
  return row?.outcome ?? undefined;
}

/** An erasure that a replica has taken to finish it. */
export interface DueErasure extends ApplicantOfRetailer {
  /** How often it was taken, this time included. */
  attempts: number;
}

const takeRow = defineStatement<DueErasure>(
  'applicant_erasure_take',
  `UPDATE applicant_erasures SET attempts = attempts + 1,
     due_at = now() + least($1 * power(2, least(attempts, 30)), $2) * (0.75 + random() / 4)
       * interval '1 millisecond'
   WHERE (applicant_id, retailer_id) = (
     SELECT applicant_id, retailer_id FROM applicant_erasures
     WHERE outcome IS NULL AND due_at <= now()
     ORDER BY due_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
   RETURNING applicant_id AS "applicantId", retailer_id AS "retailerId", attempts`,
);

/**
 * Takes the erasure that has been due for the longest time. It is due again after its backoff, which is longer than an
 * attempt takes: meanwhile no other replica takes it, and others that are due come first.
 */
export async function takeDueErasure(
  db: Queryable,
  { baseMs, capMs }: BackoffBounds,
): Promise<DueErasure | undefined> {
  const [row] = await takeRow.run(db, [baseMs, capMs]);
  return row;
}

const countRows = defineStatement<{ count: number; ageS: number }>(
  'applicant_erasures_count_unfinished',
  `SELECT count(*)::integer AS count,
     coalesce(extract(epoch FROM now() - min(requested_at)), 0)::float8 AS "ageS"
   FROM applicant_erasures WHERE outcome IS NULL`,
);

/** How many erasures are not finished, and the age of the oldest in seconds; 0 without one. */
export async function countUnfinishedErasures(
  db: Queryable,
): Promise<{ count: number; ageS: number }> {
  const [row] = await countRows.run(db);
  return row ?? { count: 0, ageS: 0 };
}

interface FinishedRow {
  actorKind: AuditActor['kind'];
  actorId: string;
  requestId: string | null;
  /** Whether the data was erased at another time than an earlier answer said, or for the first time. */
  isNew: boolean;
}

const updateOutcome = defineStatement<FinishedRow>(
  'applicant_erasure_finish',
  `UPDATE applicant_erasures AS erasures
   SET outcome = $3, data_erased_at = coalesce($4, erasures.data_erased_at)
   FROM (
     SELECT data_erased_at FROM applicant_erasures
     WHERE applicant_id = $1 AND retailer_id = $2 AND outcome IS NULL FOR NO KEY UPDATE
   ) AS earlier
   WHERE applicant_id = $1 AND retailer_id = $2 AND outcome IS NULL
   RETURNING actor_kind AS "actorKind", actor AS "actorId", request_id AS "requestId",
     $4::timestamptz IS NOT NULL AND earlier.data_erased_at IS DISTINCT FROM $4 AS "isNew"`,
);

/**
 * Records that the applications service has answered. Resolves to the erasure whose record the audit log lacks;
 * undefined when there was nothing to erase, or it was recorded before.
 *
 * @param erasedAt when the personal data was erased; undefined when the retailer has no such applicant
 */
export async function finishErasureRow(
  tx: Queryable,
  { applicantId, retailerId }: ApplicantOfRetailer,
  erasedAt: Date | undefined,
): Promise<Erasure | undefined> {
  const outcome: ErasureOutcome = erasedAt === undefined ? 'NOT_FOUND' : 'ERASED';
  const values = [applicantId, retailerId, outcome, erasedAt ?? null];
  const [row] = await updateOutcome.run(tx, values);
  if (!row?.isNew) return undefined;
  const { actorKind, actorId, requestId } = row;
  return {
    applicantId,
    retailerId,
    actor: { kind: actorKind, id: actorId },
    requestId: requestId ?? undefined,
  };
}
