/** Inserts submissions, each with its first decision and the event of that decision. */
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { insertOutboxSql, shardOf } from '@creditlane/messaging/outbox';
import { defineStatement, type Query } from '@creditlane/postgres/statement';
import { firstDecisionRecorded, type ReceivedSubmission } from '../events.ts';
import { termsJson } from '../terms.ts';

/**
 * A submission that is already in the table stays as it is. Rows are inserted in the order of their
 * keys, so that two processes that insert the same submissions at once cannot deadlock.
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
  ), inserted AS (
    INSERT INTO decisions (application_id, creditor_id, seq, recorded_at, decision)
    SELECT application_id, creditor_id, 1, submitted_at, 'AWAITING_DECISION'
    FROM submitted JOIN started USING (application_id, creditor_id)
  )
  ${insertOutboxSql}
  SELECT shard, 'creditlane.decisions.v1', application_id::text, event_id,
    'creditlane.decisions.v1.DecisionRecorded', traceparent, event
  FROM submitted JOIN started USING (application_id, creditor_id)`,
);

/** The query that inserts these submissions, each with AWAITING_DECISION as its first decision. */
export function insertSubmissionsQuery(
  received: readonly ReceivedSubmission[],
  newId: () => string,
): Query<unknown> {
  const rows = received.map(({ submission, traceparent }) => ({
    application_id: submission.applicationId,
    creditor_id: submission.creditorId,
    retailer_id: submission.retailerId,
    submitted_at: submission.submittedAt && timestampDate(submission.submittedAt),
    worksheet: termsJson(submission.worksheet),
    shard: shardOf(submission.applicationId),
    event_id: newId(),
    event: firstDecisionRecorded(submission),
    traceparent,
  }));
  return insertSubmissions.query([JSON.stringify(rows)]);
}
