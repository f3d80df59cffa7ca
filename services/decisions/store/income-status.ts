/** The SQL of the income status. Every statement filters by the caller's scope. */
import {
  hasNoStoredAnswerSql,
  insertStoredAnswerSql,
} from '@creditlane/idempotency/stored-answers';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { IncomeStatus } from '@creditlane/proto/decisions/v1/decisions_service';
import type { CallIdempotency } from '@creditlane/rpc/call';
import type { Scope } from '@creditlane/rpc/identity';
import type { SubmissionKey } from '@creditlane/rpc/submission';

/** An income status to set, with the answer to store for its idempotency key. */
export interface NewIncomeStatus {
  submission: SubmissionKey;
  incomeStatus: IncomeStatus;
  setAt: Date;
  integrationId: string;
  stored?: { idempotency: CallIdempotency; answer: Uint8Array } | undefined;
}

const updateIncomeStatusStatement = defineStatement(
  'income_status_update',
  `WITH updated AS (
    UPDATE submissions
    SET income_status = $3::text, income_status_set_at = $4::timestamptz,
      income_status_set_by = $5::uuid
    WHERE application_id = $1::uuid AND creditor_id = $2::uuid
      AND ${hasNoStoredAnswerSql('$6::text', '$7::text', '$8::text')}
    RETURNING application_id
  ), answer AS (
    ${insertStoredAnswerSql}
    SELECT $6::text, $7::text, $8::text, $9::bytea, $10::bytea
    FROM updated WHERE $8::text IS NOT NULL
  )
  SELECT FROM updated`,
);

/**
 * Sets the income status, and resolves to true. Resolves to undefined, and nothing is written, when there
 * is no such submission or the idempotency key has a live stored answer.
 */
export async function updateIncomeStatus(
  db: Queryable,
  { submission, incomeStatus, setAt, integrationId, stored }: NewIncomeStatus,
): Promise<true | undefined> {
  const { idempotency, answer } = stored ?? {};
  const updated = await updateIncomeStatusStatement.run(db, [
    submission.applicationId,
    submission.creditorId,
    IncomeStatus[incomeStatus],
    setAt,
    integrationId,
    idempotency?.callerId,
    idempotency?.operation,
    idempotency?.key,
    idempotency?.requestDigest,
    answer,
  ]);
  return updated.length > 0 ? true : undefined;
}

/** The income status of a submission; both fields are null until the creditor sets it. */
export interface StoredIncomeStatus {
  incomeStatus: keyof typeof IncomeStatus | null;
  setAt: Date | null;
}

const selectIncomeStatus = defineStatement<StoredIncomeStatus>(
  'income_status_find',
  `SELECT income_status AS "incomeStatus", income_status_set_at AS "setAt"
   FROM submissions
   WHERE application_id = $1::uuid AND creditor_id = $2::uuid
     AND (creditor_id = $3::uuid OR retailer_id = $4::uuid)`,
);

/** Undefined where the scope has no such submission. */
export async function findIncomeStatus(
  db: Queryable,
  { applicationId, creditorId }: SubmissionKey,
  scope: Scope,
): Promise<StoredIncomeStatus | undefined> {
  const values = [applicationId, creditorId, scope.creditorId, scope.retailerId];
  const [found] = await selectIncomeStatus.run(db, values);
  return found;
}
