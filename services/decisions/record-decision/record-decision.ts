/** Records a decision: checks it, finds its submission, writes it once, and answers a repetition. */
import { create, toBinary } from '@bufbuild/protobuf';
import { replayedAnswer } from '@creditlane/idempotency/answer-call';
import { writeFirst } from '@creditlane/idempotency/stored-answers';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { Decision } from '@creditlane/proto/decisions/v1/decision';
import {
  type RecordDecisionResponse,
  RecordDecisionResponseSchema,
} from '@creditlane/proto/decisions/v1/decisions_service';
import type { Call } from '@creditlane/rpc/call';
import { type SubmissionKey, submissionNotFound } from '@creditlane/rpc/submission';
import type { Clock } from '@creditlane/runtime/clock';
import { checkDecision } from '../decision.ts';
import { runOnSubmission, type SubmissionDeps } from '../run-on-submission.ts';
import { isRecorded, isRepeatedCall } from './insert-decisions.ts';
import type { InsertInRounds } from './insert-in-rounds.ts';
import type { NewDecision } from './new-decision.ts';

export interface RecordDecisionDeps extends SubmissionDeps {
  requests: RequestPool;
  insertInRounds: InsertInRounds;
  clock: Clock;
  newId: () => string;
  /** Makes the relay publish the event without waiting for its next poll. */
  wakeRelay(): void;
}

/**
 * Records the decision as the submission's next one. A request repeated with its idempotency key, and
 * a repeated attempt at one call, record nothing and get the first answer.
 *
 * @throws Fault `invalid_decision`, `submission_not_found`, or a fault of the idempotency key
 */
export async function recordDecision(
  deps: RecordDecisionDeps,
  submission: SubmissionKey,
  call: Call,
  decision: Decision,
): Promise<RecordDecisionResponse> {
  checkDecision(decision);
  // Only its creditor decides on a submission; to any other caller the submission does not exist.
  if (call.identity.creditorId !== submission.creditorId) throw submissionNotFound();

  const { idempotency } = call;
  const db = deps.requests.of(call);
  const answer = create(RecordDecisionResponseSchema, { decision });
  const row: NewDecision = {
    submission,
    decision,
    recordedAt: deps.clock(),
    integrationId: call.identity.subject,
    retryToken: call.retryToken ?? deps.newId(),
    traceparent: call.traceparent,
    stored: idempotency && {
      idempotency,
      answer: toBinary(RecordDecisionResponseSchema, answer),
    },
  };
  try {
    const outcome = await runOnSubmission(deps, submission, call, () =>
      writeFirst(db, idempotency, () => deps.insertInRounds(row, call)),
    );
    const replayed = replayedAnswer(call, RecordDecisionResponseSchema, outcome);
    if (replayed) return replayed;
  } catch (error) {
    if (!isRepeatedCall(error) || !(await isRecorded(db, row))) throw error;
    // An earlier attempt at this call recorded the decision, and its process may have stopped before
    // it woke the relay.
  }
  deps.wakeRelay();
  return answer;
}
