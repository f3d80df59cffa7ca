/** The client of the integrations service for the content of integrationEnabled. */
import { EnablementService } from '@creditlane/proto/integrations/v1/enablement_service';
import { connect } from '@creditlane/rpc/client';
import { serviceIdentity } from '@creditlane/rpc/identity';
import type { FindRetailerEnablement } from '../events/integration-events.ts';
import { SERVICE } from '../service-name.ts';
import type { DestinationsOptions } from './destinations.ts';
import { contentOrLost } from './lost-content.ts';

const SERVICE_IDENTITY = serviceIdentity(SERVICE);

/** Rejects with the fault of the integrations service while it is unavailable. Nothing is cached. */
export function retailerEnablementFinder({
  endpoint,
  ...options
}: Omit<DestinationsOptions, 'cacheMs'>): FindRetailerEnablement {
  const client = connect(EnablementService, endpoint, { ...options, audience: 'integrations' });
  return (enablementId, traceparent) => {
    const context = { identity: SERVICE_IDENTITY, traceparent };
    return contentOrLost(client.getRetailerEnablement({ enablementId }, context));
  };
}
