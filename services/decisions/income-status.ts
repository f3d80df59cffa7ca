/** The income status of a submission: sets it once for each request, and reads it. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { replayedAnswer } from '@creditlane/idempotency/answer-call';
import { writeFirst } from '@creditlane/idempotency/stored-answers';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import {
  type GetIncomeStatusResponseSchema,
  IncomeStatus,
  type SetIncomeStatusResponse,
  SetIncomeStatusResponseSchema,
} from '@creditlane/proto/decisions/v1/decisions_service';
import type { Call } from '@creditlane/rpc/call';
import { rowOf, type SubmissionKey, submissionNotFound } from '@creditlane/rpc/submission';
import type { Clock } from '@creditlane/runtime/clock';
import { runOnSubmission, type SubmissionDeps } from './run-on-submission.ts';
import { findIncomeStatus, updateIncomeStatus } from './store/income-status.ts';

export interface IncomeStatusDeps extends SubmissionDeps {
  requests: RequestPool;
  clock: Clock;
}

/**
 * Sets the income status. A request repeated with its idempotency key changes nothing and gets the first
 * answer.
 *
 * @throws Fault `submission_not_found`, or a fault of the idempotency key
 */
export async function setIncomeStatus(
  deps: IncomeStatusDeps,
  submission: SubmissionKey,
  call: Call,
  incomeStatus: IncomeStatus,
): Promise<SetIncomeStatusResponse> {
  // Only its creditor sets the income status; to any other caller the submission does not exist.
  if (call.identity.creditorId !== submission.creditorId) throw submissionNotFound();

  const { idempotency } = call;
  const db = deps.requests.of(call);
  const answer = create(SetIncomeStatusResponseSchema, { incomeStatus });
  const row = {
    submission,
    incomeStatus,
    setAt: deps.clock(),
    integrationId: call.identity.subject,
    stored: idempotency && {
      idempotency,
      answer: toBinary(SetIncomeStatusResponseSchema, answer),
    },
  };
  const outcome = await runOnSubmission(deps, submission, call, () =>
    writeFirst(db, idempotency, () => updateIncomeStatus(db.onRow(rowOf(submission)), row)),
  );
  return replayedAnswer(call, SetIncomeStatusResponseSchema, outcome) ?? answer;
}

/** The income status and when it was set. Throws as `runOnSubmission` does. */
export async function getIncomeStatus(
  deps: IncomeStatusDeps,
  submission: SubmissionKey,
  call: Call,
): Promise<MessageInitShape<typeof GetIncomeStatusResponseSchema>> {
  const { incomeStatus, setAt } = await runOnSubmission(deps, submission, call, () =>
    findIncomeStatus(deps.requests.of(call), submission, call.identity),
  );
  if (incomeStatus === null || setAt === null) return {};
  return { incomeStatus: IncomeStatus[incomeStatus], setAt: timestampFromDate(setAt) };
}
