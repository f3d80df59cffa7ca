/** The SQL of submissions: their beginning, and the mapQueryResult of their decisions. */
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { insertOutboxSql, shardOf } from '@creditlane/messaging/outbox';
import { defineStatement, type Query, type Queryable } from '@creditlane/postgres/statement';
import type { Decision } from '@creditlane/proto/decisions/v1/decision';
import { newId } from '@creditlane/runtime/ids';
import { decisionFromRow } from './decision-row.ts';
import {
  DECISION_RECORDED,
  DECISIONS_TOPIC,
  firstDecisionEvent,
  type SubmissionHeard,
} from './events.ts';
import type { Scope, SubmissionKey } from './submission.ts';
import { DECISION_COLUMNS } from './tables.ts';
import { termsJson } from './terms.ts';

/** One of a submission's decisions. */
export interface DecisionRecord {
  seq: number;
  recordedAt: Date;
  /** Who recorded it; null where the platform did. */
  integrationId: string | null;
  decision: Decision;
}

const columns = DECISION_COLUMNS.map(({ column }) => column);
/**
 * Submissions with their first decisions and its events, of those that are not there yet. They go
 * in in key order, so that two processes that learn of the same ones at once do not block each other.
 */
const insertSubmissions = defineStatement(
  'submissions_insert',
  `WITH submitted AS (
    SELECT DISTINCT ON (application_id, creditor_id) *
    FROM jsonb_to_recordset($1::jsonb) AS submission (
      application_id uuid, creditor_id uuid, retailer_id uuid, submitted_at timestamptz,
      worksheet jsonb, shard smallint, event_id uuid, event jsonb, traceparent text)
    ORDER BY application_id, creditor_id
  ), started AS (
    INSERT INTO submissions (application_id, creditor_id, retailer_id, submitted_at, last_seq,
      terms, worksheet)
    SELECT application_id, creditor_id, retailer_id, submitted_at, 1, worksheet, worksheet
    FROM submitted
    ON CONFLICT (application_id, creditor_id) DO NOTHING
    RETURNING application_id, creditor_id
  ), decision AS (
    INSERT INTO decisions (application_id, creditor_id, seq, recorded_at, decision)
    SELECT application_id, creditor_id, 1, submitted_at, 'AWAITING_DECISION'
    FROM submitted JOIN started USING (application_id, creditor_id)
  )
  ${insertOutboxSql}
  SELECT shard, '${DECISIONS_TOPIC}', application_id::text, event_id, '${DECISION_RECORDED}',
    traceparent, event
  FROM submitted JOIN started USING (application_id, creditor_id)`,
);

/** A submission within the caller's scope. Not a row of anyone else's is ever read. */
const VISIBLE = `submission.application_id = $1::uuid AND submission.creditor_id = $2::uuid
    AND (submission.creditor_id = $3::uuid OR submission.retailer_id = $4::uuid)`;

const selectLatest = defineStatement<Record<string, unknown>>(
  'decision_latest',
  `SELECT ${columns.map((column) => `decision.${column}`).join(', ')}
  FROM submissions AS submission
  JOIN decisions AS decision ON decision.application_id = submission.application_id
    AND decision.creditor_id = submission.creditor_id AND decision.seq = submission.last_seq
  WHERE ${VISIBLE}`,
);

/** The outer join tells a page with nothing on it from a submission that is not there. */
const selectHistory = defineStatement<Record<string, unknown>>(
  'decision_history',
  `SELECT decision.*
  FROM submissions AS submission
  LEFT JOIN LATERAL (
    SELECT * FROM decisions
    WHERE application_id = submission.application_id AND creditor_id = submission.creditor_id
      AND seq < $5::bigint
    ORDER BY seq DESC LIMIT $6
  ) AS decision ON true
  WHERE ${VISIBLE}
  ORDER BY decision.seq DESC`,
);

/** Starts these submissions, each with AWAITING_DECISION; those that are there already stay as they are. */
export function startingSubmissions(heard: readonly SubmissionHeard[]): Query<unknown> {
  const rows = heard.map(({ submission, traceparent }) => ({
    application_id: submission.applicationId,
    creditor_id: submission.creditorId,
    retailer_id: submission.retailerId,
    submitted_at: submission.submittedAt && timestampDate(submission.submittedAt),
    worksheet: termsJson(submission.worksheet),
    shard: shardOf(submission.applicationId),
    event_id: newId(),
    event: firstDecisionEvent(submission),
    traceparent,
  }));
  return insertSubmissions.query([JSON.stringify(rows)]);
}

/** The latest decision of a submission; undefined where the scope has no such submission. */
export async function latestDecision(
  db: Queryable,
  submission: SubmissionKey,
  scope: Scope,
): Promise<Decision | undefined> {
  const [row] = await selectLatest.run(db, visibleTo(submission, scope));
  return row && decisionFromRow(row);
}

/**
 * At most `limit` decisions of a submission, newest first, of those with a sequence under `before`.
 * Undefined where the scope has no such submission.
 */
export async function decisionHistory(
  db: Queryable,
  submission: SubmissionKey,
  scope: Scope,
  { before, limit }: { before: number; limit: number },
): Promise<DecisionRecord[] | undefined> {
  const rows = await selectHistory.run(db, [...visibleTo(submission, scope), before, limit]);
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

function visibleTo({ applicationId, creditorId }: SubmissionKey, scope: Scope): unknown[] {
  return [applicationId, creditorId, scope.creditorId, scope.retailerId];
}
