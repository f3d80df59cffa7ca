/** A call that concerns one submission: its names, the scope of the caller, and what is answered outside of it. */
import type { Call } from './call.ts';
import { type Fault, notFound } from './fault.ts';

/** Names one application submitted to one creditor; both ids in lower case. */
export interface SubmissionKey {
  applicationId: string;
  creditorId: string;
}

/** Names the submission's row, whose lock orders the writes to the submission. */
export function rowOf({ applicationId, creditorId }: SubmissionKey): string {
  return `${applicationId} ${creditorId}`;
}

/** The creditor and the retailer that a call may act for, in lower case. An empty scope covers nothing. */
export interface Scope {
  creditorId?: string | undefined;
  retailerId?: string | undefined;
}

/** A call that concerns one submission, and the scope whose submissions it may act on. */
export interface SubmissionCall {
  submission: SubmissionKey;
  scope: Scope;
  call: Call;
}

/**
 * The call, with the submission that its request names. Ids may arrive in either case; tables, events and
 * comparisons have them in lower case.
 */
export function submissionCall(
  { applicationId, creditorId }: SubmissionKey,
  call: Call,
): SubmissionCall {
  const { identity } = call;
  return {
    submission: {
      applicationId: applicationId.toLowerCase(),
      creditorId: creditorId.toLowerCase(),
    },
    scope: {
      creditorId: identity.creditorId?.toLowerCase(),
      retailerId: identity.retailerId?.toLowerCase(),
    },
    call,
  };
}

/** The same fault for another tenant's submission, for an application that was not submitted, and for an unknown one. */
export function submissionNotFound(): Fault {
  return notFound(
    'submission_not_found',
    'No application within your grants has this id and was submitted to this creditor.',
  );
}

/** The same fault for another retailer's application and for one that does not exist. */
export function applicationNotFound(): Fault {
  return notFound('application_not_found', 'There is no such application.');
}

/** The message for a field that names a user who may not act for the retailer of the submission's application. */
export const MUST_NAME_USER =
  "must name an active user of the application's retailer or of its group";

/**
 * Whether a submission that a service does not know yet could be within the scope. Where it cannot be, the
 * applications service is not asked, so that the duration of the answer does not reveal whether the
 * submission exists.
 */
export function couldBeInScope(submission: SubmissionKey, scope: Scope): boolean {
  return scope.creditorId === submission.creditorId || scope.retailerId !== undefined;
}
