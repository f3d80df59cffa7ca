/** The clients of other services for the contents of webhooks that are rendered when sent. Nothing is cached or stored. */
import type { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import type { EnablementService } from '@creditlane/proto/integrations/v1/enablement_service';
import { Fault } from '@creditlane/rpc/fault';
import type { PeerClient } from '@creditlane/rpc/peer-client';
import type { FindExport } from './export-events.ts';
import type { FindRetailerEnablement } from './integration-events.ts';
import { ContentLostError } from './webhook-event-type.ts';

/** Rejects with the fault of the applications service while it is unavailable. */
export function exportFinder(applications: PeerClient<typeof ApplicationsService>): FindExport {
  return async (exportId, { readsSin, traceparent }) => {
    const found = applications.getExport({ exportId, withSin: readsSin }, { traceparent });
    const { payloadJson } = await contentOrLost(found);
    return JSON.parse(payloadJson);
  };
}

/** Rejects with the fault of the integrations service while it is unavailable. */
export function retailerEnablementFinder(
  enablement: PeerClient<typeof EnablementService>,
): FindRetailerEnablement {
  return (enablementId, traceparent) =>
    contentOrLost(enablement.getRetailerEnablement({ enablementId }, { traceparent }));
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
