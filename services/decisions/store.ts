/** All the SQL of the decisions service. */
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { ANSWER_COUNTS, announcing, type Idempotency } from '@creditlane/postgres/idempotency';
import { shardOf } from '@creditlane/postgres/outbox';
import { type Queryable, statement } from '@creditlane/postgres/statement';
import type { Decision } from '@creditlane/proto/decisions/v1/decision';
import { newId } from '@creditlane/runtime/ids';
import { decisionCells, decisionFromRow } from './decision-row.ts';
import {
  DECISION_RECORDED,
  DECISIONS_TOPIC,
  decisionEvent,
  firstDecisionEvent,
  type SubmissionHeard,
} from './events.ts';
import type { Scope, SubmissionKey } from './submission.ts';
import { DECISION_COLUMNS, SQL_TYPE } from './tables.ts';
import { givenTerms, termsJson } from './terms.ts';

/** A decision to be recorded, and the answer to keep for its idempotency key. */
export interface DecisionWrite {
  submission: SubmissionKey;
  scope: Scope;
  decision: Decision;
  recordedAt: Date;
  integrationId: string;
  /** Of the call that asks for it, the same at each attempt; drawn when left out. */
  callId?: string | undefined;
  traceparent?: string | undefined;
  remember?: { idempotency: Idempotency; response: Uint8Array } | undefined;
}

/** One of a submission's decisions. */
export interface DecisionRecord {
  seq: number;
  recordedAt: Date;
  /** Who recorded it; null where the platform did. */
  integrationId: string | null;
  decision: Decision;
}

const columns = DECISION_COLUMNS.map(({ column }) => column);
/** How many parameters come before the decision's own cells in the statement that records it. */
const BEFORE_CELLS = 15;
const cells = DECISION_COLUMNS.map(
  ({ type }, index) => `$${BEFORE_CELLS + 1 + index}::${SQL_TYPE[type]}`,
);

/**
 * One decision in one round trip, whole or not at all. The update waits for the submission's row
 * lock and then works on its newest version, so sequences have no gap and no two writes share one;
 * the outbox id is drawn under that lock, so events come in the order of their sequences. A twin
 * with the same idempotency key waits there too, and then fails on that key's uniqueness. So does
 * one whose key has an answer that no longer counts. Of the attempts at one call the second fails on
 * the call's uniqueness, whichever it is: what a replica that died had sent may run after all.
 */
const insertDecision = statement<{ last_seq: number }>(
  'decision_insert',
  `WITH submission AS (
    UPDATE submissions SET last_seq = last_seq + 1, terms = terms || $4::jsonb
    WHERE application_id = $1::uuid AND creditor_id = $2::uuid AND creditor_id = $3::uuid
      AND NOT EXISTS (
        SELECT FROM idempotency
        WHERE caller_id = $11 AND operation = $12 AND key = $13 AND ${ANSWER_COUNTS}
      )
      AND ($13::text IS NULL OR ${announcing('$11', '$12', '$13')})
    RETURNING application_id, creditor_id, retailer_id, last_seq, terms, worksheet
  ), decision AS (
    INSERT INTO decisions (application_id, creditor_id, seq, recorded_at, integration_id, call_id,
      ${columns.join(', ')})
    SELECT application_id, creditor_id, last_seq, $5::timestamptz, $6::uuid, $8::uuid,
      ${cells.join(', ')}
    FROM submission
  ), answer AS (
    INSERT INTO idempotency (caller_id, operation, key, request_digest, response)
    SELECT $11, $12, $13, $14::bytea, $15::bytea FROM submission WHERE $13 IS NOT NULL
  ), event AS (
    INSERT INTO outbox (shard, topic, key, event_id, type, traceparent, payload)
    SELECT $7::smallint, '${DECISIONS_TOPIC}', application_id::text, $8::uuid,
      '${DECISION_RECORDED}', $9::text, $10::jsonb || jsonb_build_object(
        'retailerId', retailer_id, 'sequence', last_seq, 'terms', terms, 'worksheet', worksheet)
    FROM submission
  )
  SELECT last_seq FROM submission`,
);

/**
 * Submissions with their first decisions and its events, of those that are not there yet. They go
 * in in key order, so that two processes that learn of the same ones at once do not block each other.
 */
const insertSubmissions = statement(
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
  INSERT INTO outbox (shard, topic, key, event_id, type, traceparent, payload)
  SELECT shard, '${DECISIONS_TOPIC}', application_id::text, event_id, '${DECISION_RECORDED}',
    traceparent, event
  FROM submitted JOIN started USING (application_id, creditor_id)`,
);

/** A submission within the caller's scope. Not a row of anyone else's is ever read. */
const VISIBLE = `submission.application_id = $1::uuid AND submission.creditor_id = $2::uuid
    AND (submission.creditor_id = $3::uuid OR submission.retailer_id = $4::uuid)`;

const selectLatest = statement<Record<string, unknown>>(
  'decision_latest',
  `SELECT ${columns.map((column) => `decision.${column}`).join(', ')}
  FROM submissions AS submission
  JOIN decisions AS decision ON decision.application_id = submission.application_id
    AND decision.creditor_id = submission.creditor_id AND decision.seq = submission.last_seq
  WHERE ${VISIBLE}`,
);

const selectCall = statement(
  'decision_of_call',
  `SELECT FROM decisions WHERE call_id = $1::uuid
     AND application_id = $2::uuid AND creditor_id = $3::uuid AND integration_id = $4::uuid`,
);

/** The outer join tells a page with nothing on it from a submission that is not there. */
const selectHistory = statement<Record<string, unknown>>(
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

/**
 * Records a decision and gives its sequence. Undefined, and nothing is written, where the scope has
 * no such submission, or where an answer is kept for the idempotency key already. Rejects with an
 * `isTwin` error when a twin was faster, or an answer that no longer counts is in the way; with an
 * `isRepeated` error when the call has recorded its decision already.
 */
export async function recordDecision(
  db: Queryable,
  write: DecisionWrite,
): Promise<number | undefined> {
  const { submission, scope, decision, recordedAt, remember } = write;
  const { applicationId, creditorId } = submission;
  const [row] = await insertDecision.run(db, [
    applicationId,
    creditorId,
    scope.creditorId,
    JSON.stringify(givenTerms(decision)),
    recordedAt,
    write.integrationId,
    shardOf(applicationId),
    write.callId ?? newId(),
    write.traceparent,
    JSON.stringify(decisionEvent(submission, decision, recordedAt)),
    remember?.idempotency.callerId,
    remember?.idempotency.operation,
    remember?.idempotency.key,
    remember?.idempotency.requestDigest,
    remember?.response,
    ...decisionCells(decision),
  ]);
  return row?.last_seq;
}

/** Whether a decision was not recorded because an earlier attempt at its call had been. */
export function isRepeated(error: unknown): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === 'decisions_call';
}

/** Whether this call of this integration has recorded a decision on the submission. */
export async function hasRecorded(
  db: Queryable,
  { applicationId, creditorId }: SubmissionKey,
  { integrationId, callId }: Pick<DecisionWrite, 'integrationId' | 'callId'>,
): Promise<boolean> {
  const rows = await selectCall.run(db, [callId, applicationId, creditorId, integrationId]);
  return rows.length > 0;
}

/** Starts these submissions, each with AWAITING_DECISION; those that are there already stay as they are. */
export async function startSubmissions(
  db: Queryable,
  heard: readonly SubmissionHeard[],
): Promise<void> {
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
  await insertSubmissions.run(db, [JSON.stringify(rows)]);
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
