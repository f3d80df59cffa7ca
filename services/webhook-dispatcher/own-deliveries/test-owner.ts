/** For tests: the calls of an integration, whose id is that of its destination in the test fixture. */
import {
  DeliveriesService,
  type OwnDelivery,
} from '@creditlane/proto/webhooks/v1/deliveries_service';
import type { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import type { CallContext } from '@creditlane/rpc/client';
import type { TestClientFactory } from '@creditlane/rpc/test-mount';

/** The integration that owns the destination. */
export function ownerOf({ destinationId }: { destinationId: string }): CallContext {
  return { identity: { kind: 'integration', subject: destinationId, permissions: [] } };
}

/** The deliveries to the destination, newest first, as its owner sees them. */
export async function ownDeliveries(
  dispatcher: { clients: TestClientFactory },
  destination: { destinationId: string },
  filter: { applicationId?: string; state?: DeliveryState } = {},
): Promise<OwnDelivery[]> {
  const request = { limit: 10, ...filter };
  const client = deliveriesClient(dispatcher);
  return (await client.listOwnDeliveries(request, ownerOf(destination))).deliveries;
}

export function deliveriesClient({ clients }: { clients: TestClientFactory }) {
  return clients(DeliveriesService, 'gateway');
}
