/** Reads decisions. Every statement filters by the caller's scope, so no row of another tenant is read. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { Decision } from '@creditlane/proto/decisions/v1/decision';
import type { Scope } from '@creditlane/rpc/identity';
import { MAX_PAGE_BYTES } from '@creditlane/rpc/lists/list-page';
import type { SubmissionKey } from '@creditlane/rpc/submission';
import { decisionFromRow } from '../decision-row.ts';
import { DECISION_COLUMN_LIST } from '../tables.ts';

/** One of a submission's decisions. */
export interface DecisionRecord {
  seq: number;
  recordedAt: Date;
  /** The integration that recorded the decision; null for the first decision, which the platform records. */
  integrationId: string | null;
  decision: Decision;
}

// Both statements name their columns: a prepared `SELECT *` fails once a migration adds a column.

const selectLatestDecision = defineStatement<Record<string, unknown>>(
  'decision_latest',
  `SELECT
    ${DECISION_COLUMN_LIST}
  FROM submissions AS submission
  JOIN decisions ON decisions.application_id = submission.application_id
    AND decisions.creditor_id = submission.creditor_id AND decisions.seq = submission.last_seq
  WHERE submission.application_id = $1::uuid AND submission.creditor_id = $2::uuid
    AND (submission.creditor_id = $3::uuid OR submission.retailer_id = $4::uuid)`,
);

/**
 * The outer join distinguishes an empty page, which is one row of nulls, from a missing submission,
 * which is no row. `bytes_before` counts the conditions of the decisions before the preceding one, so that
 * the page ends with the second decision after `$7` bytes of them. A text that is stored out of line is
 * counted without being read.
 */
const selectDecisions = defineStatement<Record<string, unknown>>(
  'decision_history',
  `SELECT page.*
  FROM submissions AS submission
  LEFT JOIN LATERAL (
    SELECT seq, recorded_at, integration_id,
      ${DECISION_COLUMN_LIST}
    FROM (
      SELECT *, sum(octet_length(conditions)) OVER (
        ORDER BY seq DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS bytes_before
      FROM (
        SELECT * FROM decisions
        WHERE application_id = submission.application_id
          AND creditor_id = submission.creditor_id AND seq < $5::bigint
        ORDER BY seq DESC LIMIT $6
      ) AS newest
    ) AS counted
    WHERE coalesce(bytes_before, 0) < $7::bigint
  ) AS page ON true
  WHERE submission.application_id = $1::uuid AND submission.creditor_id = $2::uuid
    AND (submission.creditor_id = $3::uuid OR submission.retailer_id = $4::uuid)
  ORDER BY page.seq DESC`,
);

/** The latest decision of a submission; undefined where the scope has no such submission. */
export async function findLatestDecision(
  db: Queryable,
  { applicationId, creditorId }: SubmissionKey,
  scope: Scope,
): Promise<Decision | undefined> {
  const values = [applicationId, creditorId, scope.creditorId, scope.retailerId];
  const [row] = await selectLatestDecision.run(db, values);
  return row && decisionFromRow(row);
}

/**
 * At most `limit` decisions of a submission with a sequence under `before`, newest first; fewer where they
 * have more text than a page. Undefined where the scope has no such submission.
 */
export async function findDecisions(
  db: Queryable,
  { applicationId, creditorId }: SubmissionKey,
  scope: Scope,
  { before, limit }: { before: number; limit: number },
): Promise<DecisionRecord[] | undefined> {
  const ids = [applicationId, creditorId, scope.creditorId, scope.retailerId];
  const rows = await selectDecisions.run(db, [...ids, before, limit, MAX_PAGE_BYTES]);
  if (rows.length === 0) return undefined;
  return rows
    .filter(({ seq }) => seq !== null)
    .map((row) => ({
      seq: row.seq as number,
      recordedAt: row.recorded_at as Date,
      integrationId: row.integration_id as string | null,
      decision: decisionFromRow(row),
    }));
}
