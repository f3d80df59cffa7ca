/** What the decisions service hears from the others, and what it tells them. */
import { create, type JsonObject, type MessageInitShape, toJson } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { EventType, Topic } from '@creditlane/events/topics';
import type { ReceivedEvent } from '@creditlane/messaging/transactional-inbox';
import type { ApplicationSubmitted } from '@creditlane/proto/applications/v1/applications_events';
import type { Decision } from '@creditlane/proto/decisions/v1/decision';
import { DecisionRecordedSchema } from '@creditlane/proto/decisions/v1/decisions_events';
import { firstDecision, type SubmissionKey } from './submission.ts';

/** Where DecisionRecorded goes out, keyed by application. */
export const DECISIONS_TOPIC = 'creditlane.decisions.v1' satisfies Topic;
export const DECISION_RECORDED = 'creditlane.decisions.v1.DecisionRecorded' satisfies EventType;

/** Where ApplicationSubmitted comes in. */
export const APPLICATIONS_TOPIC = 'creditlane.applications.v1' satisfies Topic;
const APPLICATION_SUBMITTED = 'creditlane.applications.v1.ApplicationSubmitted' satisfies EventType;

/** A submission that the applications service told of, and the trace in which it did. */
export interface SubmissionHeard {
  submission: ApplicationSubmitted;
  traceparent?: string | undefined;
}

/** The submissions among the events; another type on the topic is not for this service. */
export function submissionsHeard(events: readonly ReceivedEvent[]): SubmissionHeard[] {
  return events.flatMap(({ type, event, traceparent }) =>
    type === APPLICATION_SUBMITTED ? [{ submission: event, traceparent }] : [],
  );
}

/**
 * The event of a decision about to be recorded, but for what only the submission's locked row
 * knows: the statement that writes it adds the sequence, terms, worksheet and retailer.
 */
export function decisionEvent(key: SubmissionKey, decision: Decision, at: Date): JsonObject {
  const { applicationId, creditorId } = key;
  return eventJson({ applicationId, creditorId, decision, recordedAt: timestampFromDate(at) });
}

/** The event of a submission's first decision, whole: its terms are still the worksheet's. */
export function firstDecisionEvent(submission: ApplicationSubmitted): JsonObject {
  const { applicationId, creditorId, retailerId, worksheet, submittedAt } = submission;
  return eventJson({
    applicationId,
    creditorId,
    retailerId,
    sequence: 1n,
    decision: firstDecision(),
    ...(submittedAt && { recordedAt: submittedAt }),
    ...(worksheet && { terms: worksheet, worksheet }),
  });
}

function eventJson(event: MessageInitShape<typeof DecisionRecordedSchema>): JsonObject {
  return toJson(DecisionRecordedSchema, create(DecisionRecordedSchema, event)) as JsonObject;
}
