/** Runs an operation on a submission, also when the event that announces the submission has not arrived. */
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type ApplicationSubmitted,
  ApplicationSubmittedSchema,
} from '@creditlane/proto/applications/v1/applications_events';
import type { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import type { Call } from '@creditlane/rpc/call';
import { Fault } from '@creditlane/rpc/fault';
import type { PeerClient } from '@creditlane/rpc/peer-client';
import { couldBeInScope, type SubmissionKey, submissionNotFound } from '@creditlane/rpc/submission';
import type { ReceivedSubmission } from './events.ts';
import { isInScope } from './submission.ts';

export interface SubmissionDeps {
  applications: PeerClient<typeof ApplicationsService>;
  /** Inserts a submission unless it is there. */
  insertSubmission(received: ReceivedSubmission): Promise<void>;
}

/**
 * Runs `operation`, which resolves to undefined where this service has no such submission within the
 * scope. In that case copies the submission from the applications service, and runs `operation` once
 * more if the submission is within the scope.
 *
 * @throws Fault `submission_not_found`, the same for another tenant's submission as for none at all
 */
export async function runOnSubmission<T>(
  { applications, insertSubmission }: SubmissionDeps,
  key: SubmissionKey,
  call: Call,
  operation: () => Promise<T | undefined>,
): Promise<T> {
  let result = await operation();
  if (result === undefined && couldBeInScope(key, call.identity)) {
    const submission = await getSubmission(applications, key, call);
    if (submission !== undefined && isInScope(submission, call.identity)) {
      await insertSubmission({ submission, traceparent: call.traceparent });
      result = await operation();
    }
  }
  if (result === undefined) throw submissionNotFound();
  return result;
}

async function getSubmission(
  applications: SubmissionDeps['applications'],
  key: SubmissionKey,
  call: Call,
): Promise<ApplicationSubmitted | undefined> {
  try {
    const answer = await applications.getSubmission(key, call);
    return create(ApplicationSubmittedSchema, {
      ...key,
      retailerId: answer.retailerId,
      submittedAt: timestampFromDate(new Date(answer.submittedAt)),
      ...(answer.worksheet && { worksheet: answer.worksheet }),
    });
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not_found') return undefined;
    throw error;
  }
}
