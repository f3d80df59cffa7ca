/** What names a submission, and what is answered outside of its scope. */
import { type Fault, notFound } from './fault.ts';
import type { Scope } from './identity.ts';

/** Names one application submitted to one creditor. */
export interface SubmissionKey {
  applicationId: string;
  creditorId: string;
}

/** Names the submission's row, whose lock orders the writes to the submission. */
export function rowOf({ applicationId, creditorId }: SubmissionKey): string {
  return `${applicationId} ${creditorId}`;
}

/** The submission that a request names, without the rest of the request. */
export function submissionOf({ applicationId, creditorId }: SubmissionKey): SubmissionKey {
  return { applicationId, creditorId };
}

/** The same fault for another tenant's submission, for an application that was not submitted, and for an unknown one. */
export function submissionNotFound(): Fault {
  return notFound(
    'submission_not_found',
    'No application within your grants has this id and was submitted to this creditor.' +
      ' Writing needs a grant on the creditor, and one for which your integration is disabled counts as not granted.',
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
