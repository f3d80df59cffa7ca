/** The rules of a submission: its scope, and the decision that every submission starts with. */
import { create } from '@bufbuild/protobuf';
import type { ApplicationSubmitted } from '@creditlane/proto/applications/v1/applications_events';
import {
  type Decision,
  DecisionSchema,
  DecisionValue,
} from '@creditlane/proto/decisions/v1/decision';
import type { Scope } from '@creditlane/rpc/identity';

/** A creditor sees what was submitted to it; a retailer sees what it submitted. */
export function isInScope(submission: ApplicationSubmitted, scope: Scope): boolean {
  return scope.creditorId === submission.creditorId || scope.retailerId === submission.retailerId;
}

/** The decision with sequence 1 of every submission: the creditor has not decided yet. */
export function firstDecision(): Decision {
  return create(DecisionSchema, { decision: DecisionValue.AWAITING_DECISION });
}
