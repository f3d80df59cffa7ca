/** The events that the decisions service consumes and publishes. */
import { create, type JsonObject, type MessageInitShape, toJson } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { EventType, Topic } from '@creditlane/events/topics';
import type { ReceivedEvent } from '@creditlane/messaging/transactional-inbox';
import type { ApplicationSubmitted } from '@creditlane/proto/applications/v1/applications_events';
import type { Decision } from '@creditlane/proto/decisions/v1/decision';
import { DecisionRecordedSchema } from '@creditlane/proto/decisions/v1/decisions_events';
import type { SubmissionKey } from '@creditlane/rpc/submission';
import { firstDecision } from './submission.ts';

/** The topic that carries ApplicationSubmitted. */
export const APPLICATIONS_TOPIC = 'creditlane.applications.v1' satisfies Topic;
const APPLICATION_SUBMITTED = 'creditlane.applications.v1.ApplicationSubmitted' satisfies EventType;

/** A submission from the applications service, and the trace in which it arrived. */
export interface ReceivedSubmission {
  submission: ApplicationSubmitted;
  traceparent?: string | undefined;
}

/** The submissions among the events; this service ignores the topic's other event types. */
export function receivedSubmissions(events: readonly ReceivedEvent[]): ReceivedSubmission[] {
  return events.flatMap(({ type, event, traceparent }) =>
    type === APPLICATION_SUBMITTED ? [{ submission: event, traceparent }] : [],
  );
}

/**
 * The DecisionRecorded of a decision that is about to be inserted. The inserting statement adds what
 * it reads from the submission's locked row: sequence, terms, worksheet and retailer.
 */
export function decisionRecorded(key: SubmissionKey, decision: Decision, at: Date): JsonObject {
  const { applicationId, creditorId } = key;
  return eventJson({ applicationId, creditorId, decision, recordedAt: timestampFromDate(at) });
}

/** The complete DecisionRecorded of a submission's first decision, whose terms are the worksheet's. */
export function firstDecisionRecorded(submission: ApplicationSubmitted): JsonObject {
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
