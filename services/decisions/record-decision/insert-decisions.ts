/**
 * The statement that records many decisions.
 *
 * To see the statement as it runs, to paste into psql:
 * node -e "import('./services/decisions/record-decision/insert-decisions.ts').then((m) => console.log(m.insertDecisionsStatement.text))"
 */
import { hasNoStoredAnswerSql } from '@creditlane/idempotency/stored-answers';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import {
  type NewDecision,
  newDecisionsJson,
  newDecisionsSql,
  recordAdvancedSql,
} from './new-decision.ts';

/**
 * As `insertDecisionStatement`, for many decisions in one round trip, but only for decisions that need
 * not wait for a lock: SKIP LOCKED leaves out a submission whose row is locked, and the UPDATE changes a
 * row once, which leaves out all but one decision of a submission. So a locked submission delays no
 * other decision, and two of these statements cannot deadlock.
 */
export const insertDecisionsStatement = defineStatement<{ call_id: string; last_seq: number }>(
  'decisions_insert',
  `WITH free AS MATERIALIZED (
    SELECT request.*
    FROM ${newDecisionsSql('$2')}
    JOIN submissions AS submission ON submission.application_id = request.application_id
      AND submission.creditor_id = request.creditor_id
      AND ${hasNoStoredAnswerSql('request.caller_id', 'request.operation', 'request.key')}
    FOR UPDATE OF submission SKIP LOCKED
  ), advanced AS (
    UPDATE submissions AS submission
    SET last_seq = last_seq + 1, terms = submission.terms || free.new_terms
    FROM free
    WHERE submission.application_id = free.application_id
      AND submission.creditor_id = free.creditor_id
    RETURNING submission.retailer_id, submission.last_seq, submission.terms,
      submission.worksheet, free.*
  ), ${recordAdvancedSql}`,
);

/**
 * Inserts the decisions that need not wait for a lock, all of them or none, and resolves to one result
 * for each row: its sequence, or undefined when the decision was left out or when `insertDecision` would
 * resolve to undefined. Rejects as `insertDecision` does.
 */
export async function insertDecisions(
  db: Queryable,
  rows: readonly NewDecision[],
): Promise<(number | undefined)[]> {
  const inserted = await insertDecisionsStatement.run(db, [newDecisionsJson(rows), rows.length]);
  const sequences = new Map(inserted.map(({ call_id, last_seq }) => [call_id, last_seq]));
  return rows.map(({ retryToken }) => sequences.get(retryToken));
}
