/** The events that the integrations service publishes. */
import { create, toJson } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { OutboxEvent } from '@creditlane/messaging/outbox';
import { IntegrationEnabledSchema } from '@creditlane/proto/integrations/v1/integrations_events';
import type { RetailerEnablementRow } from './store/retailer-enablements.ts';

/** An IntegrationEnabled. It names the enablement, whose configuration may hold secrets. */
export function integrationEnabled(
  { id, integrationId, retailerId, enabledAt }: RetailerEnablementRow,
  traceparent: string | undefined,
): OutboxEvent {
  return {
    topic: 'creditlane.integrations.v1',
    // The row of this grant is locked while the event is inserted.
    key: `${integrationId} ${retailerId}`,
    type: 'creditlane.integrations.v1.IntegrationEnabled',
    payload: toJson(
      IntegrationEnabledSchema,
      create(IntegrationEnabledSchema, {
        enablementId: id,
        integrationId,
        retailerId,
        enabledAt: timestampFromDate(enabledAt),
      }),
    ),
    traceparent,
  };
}
