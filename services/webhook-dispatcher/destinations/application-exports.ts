/** The client of the applications service: the payloads of exports, which the dispatcher never stores. */
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { connect } from '@creditlane/rpc/client';
import { serviceIdentity } from '@creditlane/rpc/identity';
import type { FindExport } from '../events/export-events.ts';
import { SERVICE } from '../service-name.ts';
import type { DestinationsOptions } from './destinations.ts';
import { contentOrLost } from './lost-content.ts';

const SERVICE_IDENTITY = serviceIdentity(SERVICE);

/** Rejects with the fault of the applications service while it is unavailable. Nothing is cached. */
export function exportFinder({
  endpoint,
  ...options
}: Omit<DestinationsOptions, 'cacheMs'>): FindExport {
  const client = connect(ApplicationsService, endpoint, { ...options, audience: 'applications' });
  return async (exportId, traceparent) => {
    const context = { identity: SERVICE_IDENTITY, traceparent };
    const { payloadJson } = await contentOrLost(client.getExport({ exportId }, context));
    return JSON.parse(payloadJson);
  };
}
