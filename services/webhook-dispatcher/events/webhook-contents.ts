/** The clients of other services for the contents of webhooks that are rendered when sent. Nothing is cached or stored. */
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { EnablementService } from '@creditlane/proto/integrations/v1/enablement_service';
import { connect } from '@creditlane/rpc/client';
import { Fault } from '@creditlane/rpc/fault';
import type { PeerOptions } from '../destinations/destinations.ts';
import { SERVICE_IDENTITY } from '../service-name.ts';
import type { FindExport } from './export-events.ts';
import type { FindRetailerEnablement } from './integration-events.ts';
import { ContentLostError } from './webhook-event-type.ts';

/** Rejects with the fault of the applications service while it is unavailable. */
export function exportFinder({ endpoint, ...options }: PeerOptions): FindExport {
  const client = connect(ApplicationsService, endpoint, { ...options, audience: 'applications' });
  return async (exportId, traceparent) => {
    const context = { identity: SERVICE_IDENTITY, traceparent };
    const { payloadJson } = await contentOrLost(client.getExport({ exportId }, context));
    return JSON.parse(payloadJson);
  };
}

/** Rejects with the fault of the integrations service while it is unavailable. */
export function retailerEnablementFinder(peer: PeerOptions): FindRetailerEnablement {
  const { endpoint, ...options } = peer;
  const client = connect(EnablementService, endpoint, { ...options, audience: 'integrations' });
  return (enablementId, traceparent) => {
    const context = { identity: SERVICE_IDENTITY, traceparent };
    return contentOrLost(client.getRetailerEnablement({ enablementId }, context));
  };
}

/** Rejects with a `ContentLostError` of the fault's code when the content is not found: no later attempt can succeed either. */
async function contentOrLost<Content>(content: Promise<Content>): Promise<Content> {
  try {
    return await content;
  } catch (error) {
    const isLost = error instanceof Fault && error.kind === 'not_found';
    throw isLost ? new ContentLostError(error.code) : error;
  }
}
