/** The rules of a submission: its scope, and the decision that every submission starts with. */
import { create } from '@bufbuild/protobuf';
import type { ApplicationSubmitted } from '@creditlane/proto/applications/v1/applications_events';
import {
  type Decision,
  DecisionSchema,
  DecisionValue,
} from '@creditlane/proto/decisions/v1/decision';

/** Names one application submitted to one creditor; both ids in lower case. */
export interface SubmissionKey {
  applicationId: string;
  creditorId: string;
}

/** The creditor and the retailer that a call may act for, in lower case. An empty scope covers nothing. */
export interface Scope {
  creditorId?: string | undefined;
  retailerId?: string | undefined;
}

/** A creditor sees what was submitted to it; a retailer sees what it submitted. */
export function isInScope(submission: ApplicationSubmitted, scope: Scope): boolean {
  return scope.creditorId === submission.creditorId || scope.retailerId === submission.retailerId;
}

/**
 * Whether a submission that this service does not have could be within the scope. Where it cannot be,
 * the applications service is not asked, so that the duration of the answer does not reveal whether the
 * submission exists.
 */
export function couldBeInScope(submission: SubmissionKey, scope: Scope): boolean {
  return scope.creditorId === submission.creditorId || scope.retailerId !== undefined;
}

/** The decision with sequence 1 of every submission: the creditor has not decided yet. */
export function firstDecision(): Decision {
  return create(DecisionSchema, { decision: DecisionValue.AWAITING_DECISION });
}
