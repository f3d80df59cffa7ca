/** The webhook event type integrationEnabled, which goes to the enabled integration only. */
import type { IntegrationEnabled } from '@creditlane/proto/integrations/v1/integrations_events';
import { createSchemaCompiler } from './body-schema.ts';
import payloadSchema from './schemas/integration-enabled.json' with { type: 'json' };
import {
  occurredAt,
  type RecipientLookup,
  requireIds,
  type WebhookEventType,
  type WebhookSource,
} from './webhook-event-type.ts';

/** What a retailer enabled. */
export interface RetailerEnablement {
  readonly retailerId: string;
  readonly retailerName: string;
  /** A JSON object; empty without a configuration. */
  readonly configJson: string;
}

/** Finds an enablement by its id; rejects with a `ContentLostError` when it was deleted. An id has one content only. */
export type FindRetailerEnablement = (
  enablementId: string,
  traceparent: string | undefined,
) => Promise<RetailerEnablement>;

const renderBody = createSchemaCompiler()(payloadSchema);

/** Webhooks of enablings: in order per retailer, numbered per retailer and integration. */
export function integrationSource(
  ofIntegration: RecipientLookup<string>,
  findEnablement: FindRetailerEnablement,
): WebhookSource<IntegrationEnabled> {
  const integrationEnabled: WebhookEventType<IntegrationEnabled, string> = {
    name: 'integrationEnabled',
    path: '/integration-enabled',
    signatureHeader: 'X-INTEGRATION-SIGNATURE',
    renderBody,
    orderedBy: 'retailer',
    orderingKey: ({ retailerId }) => retailerId,
    numberingKey: ({ integrationId }) => integrationId,
    recipientLookup: ofIntegration,
    recipientQuery: ({ integrationId }) => integrationId,
    // A configuration may hold secrets, so the dispatcher stores none.
    rendering: {
      at: 'sending',
      reference: ({ enablementId }) => enablementId,
      payload: async (enablementId, { traceparent }) =>
        payloadOf(await findEnablement(enablementId, traceparent)),
    },
  };
  return {
    topic: 'creditlane.integrations.v1',
    busEventType: 'creditlane.integrations.v1.IntegrationEnabled',
    eventTypes: [integrationEnabled],
    eventTypeOf({ enablementId, integrationId, retailerId }) {
      requireIds('enabling', enablementId, integrationId, retailerId);
      return integrationEnabled;
    },
    recordedAt: ({ enabledAt }) => occurredAt(enabledAt),
  };
}

function payloadOf({ retailerId, retailerName, configJson }: RetailerEnablement): object {
  return {
    retailerId,
    retailerName,
    configJson: configJson === '' ? undefined : JSON.parse(configJson),
  };
}
