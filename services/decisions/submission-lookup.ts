/** Finds the submission a call is about, also when the event that tells of it has not arrived yet. */
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type ApplicationSubmitted,
  ApplicationSubmittedSchema,
} from '@creditlane/proto/applications/v1/applications_events';
import type { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import type { Call } from '@creditlane/rpc/call';
import type { Client } from '@creditlane/rpc/client';
import { Fault, notFound } from '@creditlane/rpc/fault';
import { serviceIdentity } from '@creditlane/rpc/identity';
import type { SubmissionHeard } from './events.ts';
import { maySee, mightSee, type Scope, type SubmissionKey } from './submission.ts';

const DECISIONS = serviceIdentity('decisions');

export interface LookupDeps {
  applications: Client<typeof ApplicationsService>;
  /** Starts a submission unless it has been started meanwhile. */
  startSubmission(heard: SubmissionHeard): Promise<void>;
}

/** A call about a submission, and whose submissions it may act on. */
export interface SubmissionCall {
  key: SubmissionKey;
  scope: Scope;
  call: Call;
}

/**
 * What `attempt` gives for a submission that is known here. It gives undefined where there is none
 * within the scope; then the applications service is asked, and the attempt is made once more if
 * that tells of one.
 *
 * @throws a Fault `submission_not_found`, the same for another's submission as for none at all
 */
export async function withSubmission<T>(
  { applications, startSubmission }: LookupDeps,
  { key, scope, call }: SubmissionCall,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  let found = await attempt();
  if (found === undefined && mightSee(scope, key)) {
    const submission = await ask(applications, key, call);
    if (submission !== undefined && maySee(scope, submission)) {
      await startSubmission({ submission, traceparent: call.traceparent });
      found = await attempt();
    }
  }
  if (found === undefined) throw notFound('submission_not_found', 'There is no such submission.');
  return found;
}

async function ask(
  applications: LookupDeps['applications'],
  key: SubmissionKey,
  call: Call,
): Promise<ApplicationSubmitted | undefined> {
  try {
    const answer = await applications.getSubmission(key, { ...call, identity: DECISIONS });
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
