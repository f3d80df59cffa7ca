/** For tests: which integrations receive an event, as the gateway asks before an export. */
import { DestinationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import type { Call } from '@creditlane/rpc/call';
import { fakeService } from '@creditlane/rpc/test-fake-service';
import { newId } from '@creditlane/runtime/ids';

interface DestinationsState {
  /** Each as "integration retailer" or "integration creditor". */
  readonly grants: ReadonlySet<string>;
  readonly calls: { method: string; call: Call; request: object }[];
}

/** Every integration with a grant has a destination. */
export function fakeDestinations({ grants, calls }: DestinationsState) {
  return fakeService(DestinationsService, {
    findRecipients: async (request, call) => {
      calls.push({ method: 'findRecipients', request, call });
      const byPair = request.pairs.map(({ retailerId, creditorId, integrationId }) => {
        const granted = [retailerId, creditorId].filter((id) =>
          grants.has(`${integrationId} ${id}`),
        );
        return { recipients: granted.map(() => ({ destinationId: newId() })) };
      });
      return { byPair };
    },
  });
}
