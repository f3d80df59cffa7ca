/** The webhook event type applicationExported, which goes to one integration and is rendered when sent. */
import type {
  ApplicationExported,
  ApplicationSubmitted,
} from '@creditlane/proto/applications/v1/applications_events';
import { createSchemaCompiler } from './body-schema.ts';
import payloadSchema from './schemas/application-exported.json' with { type: 'json' };
import {
  type ContentReader,
  type GrantQuery,
  occurredAt,
  type RecipientLookup,
  requireIds,
  type WebhookEventType,
  type WebhookSource,
} from './webhook-event-type.ts';

/**
 * Finds the payload of an export, which holds personal data, so that the dispatcher stores the export's id
 * only. An export has one payload: the applications service stores its text, and JSON keeps the order of
 * members, so that every attempt has the same bytes, unless the receiver's permission to read social insurance numbers changes.
 */
export type FindExport = (exportId: string, reader: ContentReader) => Promise<object>;

const renderBody = createSchemaCompiler()(payloadSchema);

/** Webhooks of exports: in order per application and numbered per submission, together with its decisions. */
export function exportSource(
  granted: RecipientLookup<GrantQuery>,
  findExport: FindExport,
): WebhookSource<ApplicationExported> {
  const applicationExported: WebhookEventType<ApplicationExported, GrantQuery> = {
    name: 'applicationExported',
    path: '/application-exported',
    signatureHeader: 'X-SERVICE-SIGNATURE',
    renderBody,
    orderedBy: 'application',
    orderingKey: ({ applicationId }) => applicationId,
    numberingKey: ({ creditorId }) => creditorId,
    recipientLookup: granted,
    recipientQuery: ({ retailerId, creditorId, integrationId }) => ({
      retailerId,
      creditorId,
      integrationId,
    }),
    rendering: {
      at: 'sending',
      reference: ({ exportId }) => exportId,
      payload: findExport,
    },
  };
  return {
    topic: 'creditlane.applications.v1',
    busEventType: 'creditlane.applications.v1.ApplicationExported',
    eventTypes: [applicationExported],
    eventTypeOf({ exportId, applicationId, creditorId, retailerId, integrationId }) {
      requireIds('export', exportId, applicationId, creditorId, retailerId, integrationId);
      return applicationExported;
    },
    recordedAt: ({ exportedAt }) => occurredAt(exportedAt),
  };
}

/** The other event of the topic. A submission's webhook is that of its first decision. */
export const submissionSource: WebhookSource<ApplicationSubmitted> = {
  topic: 'creditlane.applications.v1',
  busEventType: 'creditlane.applications.v1.ApplicationSubmitted',
  eventTypes: [],
  eventTypeOf: () => undefined,
  recordedAt: ({ submittedAt }) => occurredAt(submittedAt),
};
