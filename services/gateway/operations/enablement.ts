/** The operations on the enablement of an integration. */
import {
  DisableIntegrationResponseSchema,
  EnableIntegrationResponseSchema,
  type EnablementService,
  GetIntegrationEnablementResponseSchema,
  SetIntegrationStatusRequestSchema,
  SetIntegrationStatusResponseSchema,
} from '@creditlane/proto/integrations/v1/enablement_service';
import type { Client } from '@creditlane/rpc/client';
import { defineHandlers } from './handlers.ts';
import { messageReader, messageWriter } from './service-messages/json-message.ts';

const readStatus = messageReader(SetIntegrationStatusRequestSchema);
const writeEnabled = messageWriter(EnableIntegrationResponseSchema);
const writeDisabled = messageWriter(DisableIntegrationResponseSchema);
const writeStatus = messageWriter(SetIntegrationStatusResponseSchema);
const writeEnablement = messageWriter(GetIntegrationEnablementResponseSchema);

export function enablementOperations(enablement: Client<typeof EnablementService>) {
  return defineHandlers({
    async enableIntegration({ body: { creditorId }, context }) {
      const answer = await enablement.enableIntegration({ creditorId }, context);
      return { creditorId, ...writeEnabled(answer) };
    },

    async disableIntegration({ body: { creditorId, reason = '' }, context }) {
      const answer = await enablement.disableIntegration({ creditorId, reason }, context);
      return { creditorId, ...writeDisabled(answer) };
    },

    async setIntegrationStatus({ body, context }) {
      const { creditorId } = body;
      const answer = await enablement.setIntegrationStatus(readStatus(body), context);
      return { creditorId, ...writeStatus(answer) };
    },

    async enableForRetailer({ path, body, context }) {
      const { configJson } = body ?? {};
      const request = {
        ...path,
        configJson: configJson === undefined ? '' : JSON.stringify(configJson),
      };
      await enablement.enableForRetailer(request, context);
      return { ...path, status: 'ENABLED' };
    },

    async getIntegrationEnablement({ path, context }) {
      return {
        ...path,
        ...writeEnablement(await enablement.getIntegrationEnablement(path, context)),
      };
    },
  });
}
