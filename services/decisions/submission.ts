/** The rules of a submission: who may see it, and the decision it starts with. */
import { create } from '@bufbuild/protobuf';
import type { ApplicationSubmitted } from '@creditlane/proto/applications/v1/applications_events';
import {
  type Decision,
  DecisionSchema,
  DecisionValue,
} from '@creditlane/proto/decisions/v1/decision';

/** One application in front of one creditor; both ids in lower case, as events and tables have them. */
export interface SubmissionKey {
  applicationId: string;
  creditorId: string;
}

/** The one creditor and the one retailer that a call may act for; with neither it sees nothing. */
export interface Scope {
  creditorId?: string | undefined;
  retailerId?: string | undefined;
}

/** The key in whatever case the caller wrote the ids: one application must not go by two names. */
export function submissionKey(ids: SubmissionKey): SubmissionKey {
  return {
    applicationId: ids.applicationId.toLowerCase(),
    creditorId: ids.creditorId.toLowerCase(),
  };
}

/** The scope in lower case, likewise. */
export function scopeOf({ creditorId, retailerId }: Scope): Scope {
  return { creditorId: creditorId?.toLowerCase(), retailerId: retailerId?.toLowerCase() };
}

/** A creditor sees what was submitted to it; a retailer sees what it submitted. */
export function maySee(scope: Scope, submission: ApplicationSubmitted): boolean {
  return scope.creditorId === submission.creditorId || scope.retailerId === submission.retailerId;
}

/**
 * Whether the scope may yet turn out to cover a submission that is not known here. Where it cannot,
 * nobody is asked, so that the time of the answer does not tell whether the submission exists.
 */
export function mightSee(scope: Scope, key: SubmissionKey): boolean {
  return scope.creditorId === key.creditorId || scope.retailerId !== undefined;
}

/** Sequence 1 of every submission: the creditor has not spoken yet. */
export function firstDecision(): Decision {
  return create(DecisionSchema, { decision: DecisionValue.AWAITING_DECISION });
}
