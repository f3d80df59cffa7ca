/** The client of the integrations service for the content of integrationEnabled. */
import { EnablementService } from '@creditlane/proto/integrations/v1/enablement_service';
import { connect } from '@creditlane/rpc/client';
import { Fault } from '@creditlane/rpc/fault';
import { serviceIdentity } from '@creditlane/rpc/identity';
import type { FindRetailerEnablement } from '../events/integration-events.ts';
import { type DestinationsOptions, SERVICE } from './destinations.ts';

const SERVICE_IDENTITY = serviceIdentity(SERVICE);

/** Rejects with the fault of the integrations service while it is unavailable. Nothing is cached. */
export function retailerEnablementFinder({
  endpoint,
  ...options
}: Omit<DestinationsOptions, 'cacheMs'>): FindRetailerEnablement {
  const client = connect(EnablementService, endpoint, { ...options, audience: 'integrations' });
  return async (enablementId, traceparent) => {
    try {
      const context = { identity: SERVICE_IDENTITY, traceparent };
      return await client.getRetailerEnablement({ enablementId }, context);
    } catch (error) {
      if (error instanceof Fault && error.kind === 'not_found') return undefined;
      throw error;
    }
  };
}
