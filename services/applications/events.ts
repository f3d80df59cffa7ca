/** The events that the applications service publishes. */
import { create, toJson } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { OutboxEvent } from '@creditlane/messaging/outbox';
import type { Worksheet } from '@creditlane/proto/applications/v1/application';
import {
  ApplicationExportedSchema,
  ApplicationSubmittedSchema,
} from '@creditlane/proto/applications/v1/applications_events';

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

/** The ids of an export, and when it was made. */
export interface ExportedApplication {
  exportId: string;
  applicationId: string;
  creditorId: string;
  /** The integration that receives the export. */
  integrationId: string;
  exportedAt: Date;
}

/** An ApplicationExported. The event has the id of its export, so that consumers dedupe by the export. */
export function applicationExported(
  { exportedAt, ...ids }: ExportedApplication,
  retailerId: string,
  traceparent: string | undefined,
): OutboxEvent {
  const event = { ...ids, retailerId, exportedAt: timestampFromDate(exportedAt) };
  return {
    id: ids.exportId,
    topic: 'creditlane.applications.v1',
    key: ids.applicationId,
    type: 'creditlane.applications.v1.ApplicationExported',
    payload: toJson(ApplicationExportedSchema, create(ApplicationExportedSchema, event)),
    traceparent,
  };
}
