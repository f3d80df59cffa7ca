/** The SQL that records decisions: one by itself, or many in one statement. */
import {
  ANSWER_IS_LIVE,
  announceRequestSql,
  type Idempotency,
} from '@creditlane/idempotency/stored-answers';
import { insertOutboxSql, shardOf } from '@creditlane/messaging/outbox';
import { type Column, fewRowsFromArrays, toColumnArrays } from '@creditlane/postgres/array-rows';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { Decision } from '@creditlane/proto/decisions/v1/decision';
import { newId } from '@creditlane/runtime/ids';
import { decisionCells } from './decision-row.ts';
import { DECISION_RECORDED, DECISIONS_TOPIC, decisionEvent } from './events.ts';
import type { Scope, SubmissionKey } from './submission.ts';
import { DECISION_COLUMNS, SQL_TYPE } from './tables.ts';
import { givenTerms } from './terms.ts';

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

/** What a write gives to the statement: each value's name and type, in the order of the parameters. */
const GIVEN: readonly Column[] = [
  ['application_id', 'uuid'],
  ['creditor_id', 'uuid'],
  ['scope_creditor_id', 'uuid'],
  ['given_terms', 'jsonb'],
  ['recorded_at', 'timestamptz'],
  ['integration_id', 'uuid'],
  ['shard', 'smallint'],
  ['call_id', 'uuid'],
  ['traceparent', 'text'],
  ['event', 'jsonb'],
  ['caller_id', 'text'],
  ['operation', 'text'],
  ['key', 'text'],
  ['request_digest', 'bytea'],
  ['response', 'bytea'],
  ...DECISION_COLUMNS.map(({ column, type }) => [column, SQL_TYPE[type]] as const),
];
const CALL_ID = GIVEN.findIndex(([name]) => name === 'call_id');

/** SQL for a value of the write, by its name. */
type Given = (name: string) => string;

/** Where the submission is within the scope, and no answer is kept for the key. Announces the key. */
const mayWrite = (given: Given) => `submission.application_id = ${given('application_id')}
    AND submission.creditor_id = ${given('creditor_id')}
    AND submission.creditor_id = ${given('scope_creditor_id')}
    AND NOT EXISTS (
      SELECT FROM idempotency WHERE caller_id = ${given('caller_id')}
        AND operation = ${given('operation')} AND key = ${given('key')} AND ${ANSWER_IS_LIVE}
    )
    AND (${given('key')} IS NULL
      OR ${announceRequestSql(given('caller_id'), given('operation'), given('key'))})`;

/**
 * The statement around `advanced`: the submissions' rows, locked and advanced to their next sequence.
 * The outbox id is drawn under that lock, so events come in the order of their sequences.
 */
function recording(advanced: string, given: Given): string {
  const columns = DECISION_COLUMNS.map(({ column }) => column);
  return `WITH ${advanced}, decision AS (
    INSERT INTO decisions (application_id, creditor_id, seq, recorded_at, integration_id,
      call_id, ${columns.join(', ')})
    SELECT application_id, creditor_id, last_seq, ${given('recorded_at')},
      ${given('integration_id')}, ${given('call_id')}, ${columns.map(given).join(', ')}
    FROM advanced
  ), answer AS (
    INSERT INTO idempotency (caller_id, operation, key, request_digest, response)
    SELECT ${given('caller_id')}, ${given('operation')}, ${given('key')},
      ${given('request_digest')}, ${given('response')}
    FROM advanced WHERE ${given('key')} IS NOT NULL
  ), event AS (
    ${insertOutboxSql}
    SELECT ${given('shard')}, '${DECISIONS_TOPIC}', application_id::text, ${given('call_id')},
      '${DECISION_RECORDED}', ${given('traceparent')}, ${given('event')} || jsonb_build_object(
        'retailerId', retailer_id, 'sequence', last_seq, 'terms', terms, 'worksheet', worksheet)
    FROM advanced
  )
  SELECT ${given('call_id')} AS call_id, last_seq FROM advanced`;
}

interface Recorded {
  call_id: string;
  last_seq: number;
}

const parameter: Given = (name) => {
  const index = GIVEN.findIndex(([known]) => known === name);
  return `$${index + 1}::${GIVEN[index]?.[1]}`;
};

/**
 * One decision in one round trip, whole or not at all. The update waits for the submission's row
 * lock and then works on its newest version, so sequences have no gap and no two writes share one.
 * A twin with the same idempotency key waits there too, and then fails on that key's uniqueness. So
 * does one whose key has an answer that no longer counts. Of the attempts at one call the second fails
 * on the call's uniqueness, whichever it is: what a replica that died had sent may run after all.
 */
const insertDecision = defineStatement<Recorded>(
  'decision_insert',
  recording(
    `advanced AS (
    UPDATE submissions AS submission
    SET last_seq = last_seq + 1, terms = terms || ${parameter('given_terms')}
    WHERE ${mayWrite(parameter)}
    RETURNING application_id, creditor_id, retailer_id, last_seq, terms, worksheet
  )`,
    parameter,
  ),
);

/**
 * Many decisions in one round trip, but only those that need wait for nobody: a submission whose row
 * somebody holds is left out, and so is all but one decision of the same submission. So one that is
 * held keeps no other waiting, and no two such statements wait for each other in a ring.
 */
const insertDecisions = defineStatement<Recorded>(
  'decisions_insert',
  recording(
    `free AS MATERIALIZED (
    SELECT given.*
    FROM ${fewRowsFromArrays(GIVEN)} AS given
    JOIN submissions AS submission ON ${mayWrite((name) => `given.${name}`)}
    FOR UPDATE OF submission SKIP LOCKED
  ), advanced AS (
    UPDATE submissions AS submission
    SET last_seq = last_seq + 1, terms = submission.terms || free.given_terms
    FROM free
    WHERE submission.application_id = free.application_id
      AND submission.creditor_id = free.creditor_id
    RETURNING submission.retailer_id, submission.last_seq, submission.terms,
      submission.worksheet, free.*
  )`,
    (name) => name,
  ),
);

/**
 * Records a decision and gives its sequence. Undefined, and nothing is written, where the scope has
 * no such submission, or where an answer is kept for the idempotency key already. Rejects with an
 * `isDuplicateRequest` error when a twin was faster, or an answer that no longer counts is in the way; with an
 * `isRepeated` error when the call has recorded its decision already.
 */
export async function recordDecision(
  db: Queryable,
  write: DecisionWrite,
): Promise<number | undefined> {
  const [row] = await insertDecision.run(db, valuesOf(write));
  return row?.last_seq;
}

/**
 * Records those of the decisions that need wait for nobody, all or none, and gives the sequence of
 * each. Undefined where one has to wait, or for any reason that `recordDecision` has to give that.
 */
export async function recordDecisions(
  db: Queryable,
  writes: readonly DecisionWrite[],
): Promise<(number | undefined)[]> {
  const rows = writes.map(valuesOf);
  const recorded = await insertDecisions.run(db, toColumnArrays(rows, GIVEN.length));
  const sequences = new Map(recorded.map(({ call_id, last_seq }) => [call_id, last_seq]));
  return rows.map((values) => sequences.get(values[CALL_ID] as string));
}

/** The values in the order of GIVEN. */
function valuesOf({ submission, scope, decision, recordedAt, ...write }: DecisionWrite): unknown[] {
  const { idempotency, response } = write.remember ?? {};
  return [
    submission.applicationId,
    submission.creditorId,
    scope.creditorId,
    JSON.stringify(givenTerms(decision)),
    recordedAt,
    write.integrationId,
    shardOf(submission.applicationId),
    write.callId ?? newId(),
    write.traceparent,
    JSON.stringify(decisionEvent(submission, decision, recordedAt)),
    idempotency?.callerId,
    idempotency?.operation,
    idempotency?.key,
    idempotency?.requestDigest,
    response,
    ...decisionCells(decision),
  ];
}

const selectCall = defineStatement(
  'decision_of_call',
  `SELECT FROM decisions WHERE call_id = $1::uuid
     AND application_id = $2::uuid AND creditor_id = $3::uuid AND integration_id = $4::uuid`,
);

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
