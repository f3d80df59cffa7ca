/** For tests: the calls of an integration, whose id is that of its destination in the test fixture. */
import { DeliveriesService } from '@creditlane/proto/webhooks/v1/deliveries_service';
import type { CallContext } from '@creditlane/rpc/client';
import type { TestClientFactory } from '@creditlane/rpc/test-mount';

/** The integration that owns the destination. */
export function ownerOf({ destinationId }: { destinationId: string }): CallContext {
  return { identity: { kind: 'integration', subject: destinationId, permissions: [] } };
}

export function deliveriesClient({ clients }: { clients: TestClientFactory }) {
  return clients(DeliveriesService, 'gateway');
}
