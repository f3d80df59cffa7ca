/** Writes and finds the erasures of applicants. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { AuditActor } from '../audit/audit-record.ts';
import type { ApplicantOfRetailer } from './applicant-keys.ts';

/** What the applications service has answered: whether the retailer has the applicant. */
export type ErasureOutcome = 'ERASED' | 'NOT_FOUND';

/** Who erases, and the X-Request-Id of a request that asked for it. */
export interface Eraser {
  actor: AuditActor;
  requestId?: string | undefined;
}

export type Erasure = ApplicantOfRetailer & Eraser;

// A repeated erasure keeps the actor and the time of the first.
const insertRow = defineStatement<{ outcome: ErasureOutcome | null }>(
  'applicant_erasure_insert',
  `INSERT INTO applicant_erasures (applicant_id, retailer_id, actor_kind, actor, request_id, requested_at)
   VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (applicant_id, retailer_id) DO UPDATE SET actor = applicant_erasures.actor
   RETURNING outcome`,
);

/** Records an erasure that is to be finished, and resolves to the outcome of an earlier one that is. */
export async function insertErasure(
  tx: Queryable,
  { applicantId, retailerId, actor, requestId }: Erasure,
  at: Date,
): Promise<ErasureOutcome | undefined> {
  const values = [applicantId, retailerId, actor.kind, actor.id, requestId ?? null, at];
  const [row] = await insertRow.run(tx, values);
  return row?.outcome ?? undefined;
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

interface ErasureRow extends ApplicantOfRetailer {
  actorKind: AuditActor['kind'];
  actorId: string;
  requestId: string | null;
}

const COLUMNS = `applicant_id AS "applicantId", retailer_id AS "retailerId",
  actor_kind AS "actorKind", actor AS "actorId", request_id AS "requestId"`;

const selectUnfinished = defineStatement<ApplicantOfRetailer>(
  'applicant_erasures_unfinished',
  `SELECT applicant_id AS "applicantId", retailer_id AS "retailerId"
   FROM applicant_erasures WHERE outcome IS NULL ORDER BY requested_at LIMIT $1`,
);

/** The oldest erasures that the applications service has not answered yet. */
export async function findUnfinishedErasures(
  db: Queryable,
  limit: number,
): Promise<ApplicantOfRetailer[]> {
  return selectUnfinished.run(db, [limit]);
}

const updateOutcome = defineStatement<ErasureRow>(
  'applicant_erasure_finish',
  `UPDATE applicant_erasures SET outcome = $3
   WHERE applicant_id = $1 AND retailer_id = $2 AND outcome IS NULL
   RETURNING ${COLUMNS}`,
);

/** Records the outcome, once: undefined when there is one already. */
export async function finishErasureRow(
  tx: Queryable,
  { applicantId, retailerId }: ApplicantOfRetailer,
  outcome: ErasureOutcome,
): Promise<Erasure | undefined> {
  const [row] = await updateOutcome.run(tx, [applicantId, retailerId, outcome]);
  if (row === undefined) return undefined;
  const { actorKind, actorId, requestId } = row;
  return {
    ...{ applicantId, retailerId },
    actor: { kind: actorKind, id: actorId },
    requestId: requestId ?? undefined,
  };
}
