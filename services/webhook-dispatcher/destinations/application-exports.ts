/** The client of the applications service: the payloads of exports, which the dispatcher never stores. */
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { connect } from '@creditlane/rpc/client';
import { Fault } from '@creditlane/rpc/fault';
import { serviceIdentity } from '@creditlane/rpc/identity';
import type { FindExport } from '../events/export-events.ts';
import { ContentLostError } from '../events/webhook-event-type.ts';
import { type DestinationsOptions, SERVICE } from './destinations.ts';

const SERVICE_IDENTITY = serviceIdentity(SERVICE);

/** Rejects with the fault of the applications service while it is unavailable. Nothing is cached. */
export function exportFinder({
  endpoint,
  ...options
}: Omit<DestinationsOptions, 'cacheMs'>): FindExport {
  const client = connect(ApplicationsService, endpoint, { ...options, audience: 'applications' });
  return async (exportId, traceparent) => {
    const context = { identity: SERVICE_IDENTITY, traceparent };
    try {
      const { payloadJson } = await client.getExport({ exportId }, context);
      return JSON.parse(payloadJson);
    } catch (error) {
      // `export_deleted` or `export_unreadable`: no later attempt can succeed either.
      const isLost = error instanceof Fault && error.kind === 'not_found';
      throw isLost ? new ContentLostError(error.code) : error;
    }
  };
}
