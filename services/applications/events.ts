/** The events that the applications service publishes. */
import { create, toJson } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { OutboxEvent } from '@creditlane/messaging/outbox';
import type { Worksheet } from '@creditlane/proto/applications/v1/application';
import { ApplicationSubmittedSchema } from '@creditlane/proto/applications/v1/applications_events';

export interface SubmittedApplication {
  applicationId: string;
  retailerId: string;
  creditorIds: readonly string[];
  worksheet: Worksheet;
  submittedAt: Date;
}

/** An ApplicationSubmitted for each creditor. The event carries only the terms of the worksheet. */
export function applicationSubmitted(
  { applicationId, retailerId, creditorIds, worksheet, submittedAt }: SubmittedApplication,
  traceparent: string | undefined,
): OutboxEvent[] {
  return creditorIds.map((creditorId) => ({
    topic: 'creditlane.applications.v1',
    key: applicationId,
    type: 'creditlane.applications.v1.ApplicationSubmitted',
    payload: toJson(
      ApplicationSubmittedSchema,
      create(ApplicationSubmittedSchema, {
        applicationId,
        creditorId,
        retailerId,
        worksheet: worksheet.terms,
        submittedAt: timestampFromDate(submittedAt),
      }),
    ),
    traceparent,
  }));
}
