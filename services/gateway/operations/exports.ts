/** The operation that exports an application to an integration. */
import {
  type ApplicationsService,
  ExportApplicationResponseSchema,
} from '@creditlane/proto/applications/v1/applications_service';
import type { DestinationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import type { Client } from '@creditlane/rpc/client';
import { lacksRecipient } from '../access/recipients.ts';
import { defineHandlers } from './handlers.ts';
import { messageWriter } from './service-messages/json-message.ts';

const writeExport = messageWriter(ExportApplicationResponseSchema);

interface ExportPeers {
  readonly applications: Client<typeof ApplicationsService>;
  readonly destinations: Client<typeof DestinationsService>;
}

export function exportOperations({ applications, destinations }: ExportPeers) {
  return defineHandlers({
    async exportApplication({ path, body, context }) {
      const { integrationId, creditorId } = body;
      // The applications service refuses an export without a recipient, after the other rules and not when the request is
      // repeated.
      const lacks = await lacksRecipient(destinations, { integrationId, creditorId }, context);
      const request = { ...path, integrationId, creditorId, lacksRecipient: lacks };
      return writeExport(await applications.exportApplication(request, context));
    },
  });
}
