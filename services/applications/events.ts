/** What the applications service tells the others. */
import { create, toJson } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { OutboxEvent } from '@creditlane/messaging/outbox';
import type { Worksheet } from '@creditlane/proto/applications/v1/application';
import { ApplicationSubmittedSchema } from '@creditlane/proto/applications/v1/applications_events';

export interface Submitted {
  applicationId: string;
  retailerId: string;
  creditorIds: readonly string[];
  worksheet: Worksheet;
  submittedAt: Date;
}

/** An ApplicationSubmitted for each creditor. Of the worksheet it carries the terms alone. */
export function applicationSubmitted(
  { applicationId, retailerId, creditorIds, worksheet, submittedAt }: Submitted,
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
