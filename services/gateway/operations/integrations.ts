/** The platform's operations on integrations: registration, keys, grants and destinations. */
import {
  type IntegrationsService,
  RegisterIntegrationRequestSchema,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { Client } from '@creditlane/rpc/client';
import type { Handler, Handlers } from '../handler.ts';
import { messageReader } from '../json-message.ts';

const readRegistration = messageReader(RegisterIntegrationRequestSchema);

export function integrationOperations(integrations: Client<typeof IntegrationsService>): Handlers {
  const grantRetailer =
    (granted: boolean): Handler =>
    async ({ path, context }) => {
      const { integrationId = '', retailerId = '' } = path;
      await integrations.grantRetailer({ integrationId, retailerId, granted }, context);
      return undefined;
    };
  const grantCreditor =
    (granted: boolean): Handler =>
    async ({ path, context }) => {
      const { integrationId = '', creditorId = '' } = path;
      await integrations.grantCreditor({ integrationId, creditorId, granted }, context);
      return undefined;
    };
  return {
    async registerIntegration({ body, context }) {
      const registering = integrations.registerIntegration(readRegistration(body), context);
      const { integrationId } = await registering;
      return { integrationId, name: body.name ?? '', permissions: body.permissions ?? [] };
    },

    async issueKey({ path, body, context }) {
      const { integrationId = '' } = path;
      const live = body.live !== false;
      const { keyId, key } = await integrations.issueKey({ integrationId, live }, context);
      return { keyId, key };
    },

    async revokeKey({ path, context }) {
      const { integrationId = '', keyId = '' } = path;
      await integrations.revokeKey({ integrationId, keyId }, context);
      return undefined;
    },

    grantRetailer: grantRetailer(true),
    withdrawRetailer: grantRetailer(false),
    grantCreditor: grantCreditor(true),
    withdrawCreditor: grantCreditor(false),

    async setDestination({ path, body, context }) {
      const { integrationId = '' } = path;
      const { destinationId, secret } = await integrations.setDestination(
        { integrationId, url: String(body.url) },
        context,
      );
      return { destinationId, ...(secret !== '' && { secret }) };
    },
  };
}
