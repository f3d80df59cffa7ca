/** The platform's operations on integrations: registration, keys, grants and destinations. */
import { create } from '@bufbuild/protobuf';
import {
  ChangeIntegrationRequestSchema,
  GetIntegrationResponseSchema,
  type IntegrationsService,
  RegisterIntegrationRequestSchema,
  RotateSecretResponseSchema,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { Client } from '@creditlane/rpc/client';
import { defineHandlers } from './handlers.ts';
import { messageReader, messageWriter } from './service-messages/json-message.ts';
import { withoutEmptyFilter } from './service-messages/service-answers.ts';

const DEFAULT_OVERLAP_HOURS = 24;

const readRegistration = messageReader(RegisterIntegrationRequestSchema, {
  except: ['noPermissions'],
});
const writeRegistration = messageWriter(RegisterIntegrationRequestSchema, {
  except: ['noPermissions'],
});
const readChange = messageReader(ChangeIntegrationRequestSchema, { except: ['integrationId'] });
const writeIntegration = messageWriter(GetIntegrationResponseSchema);
const writeRotatedSecret = messageWriter(RotateSecretResponseSchema);

export function integrationOperations(integrations: Client<typeof IntegrationsService>) {
  return defineHandlers({
    async registerIntegration({ body, context }) {
      const noPermissions = body.permissions?.length === 0;
      const asked = create(RegisterIntegrationRequestSchema, readRegistration(body));
      const answer = await integrations.registerIntegration({ ...asked, noPermissions }, context);
      // What the request leaves out is that of the integration. A service of an earlier version does not tell it.
      if (answer.permissions.length > 0) asked.permissions = answer.permissions;
      if (answer.rateLimit) asked.rateLimit = answer.rateLimit;
      return { ...writeRegistration(asked), integrationId: answer.integrationId };
    },

    async changeIntegration({ path, body, context }) {
      await integrations.changeIntegration({ ...path, ...readChange(body) }, context);
    },

    async getIntegration({ path, context }) {
      const integration = writeIntegration(await integrations.getIntegration(path, context));
      const { destination } = integration;
      return { ...integration, destination: destination && withoutEmptyFilter(destination) };
    },

    async issueKey({ path, body, context }) {
      const request = { ...path, live: body?.live ?? true };
      const { keyId, key } = await integrations.issueKey(request, context);
      return { keyId, key };
    },

    async revokeKey({ path, context }) {
      await integrations.revokeKey(path, context);
    },

    async grantRetailer({ path, context }) {
      await integrations.grantRetailer({ ...path, granted: true }, context);
    },

    async withdrawRetailer({ path, context }) {
      await integrations.grantRetailer({ ...path, granted: false }, context);
    },

    async grantCreditor({ path, context }) {
      await integrations.grantCreditor({ ...path, granted: true }, context);
    },

    async withdrawCreditor({ path, context }) {
      await integrations.grantCreditor({ ...path, granted: false }, context);
    },

    async setDestination({ path, body, context }) {
      const { url, events = [], deliveriesPerSecond } = body;
      const request = { ...path, url, events, deliveriesPerSecond };
      const { destinationId, secret } = await integrations.setDestination(request, context);
      return { destinationId, secret: secret || undefined };
    },

    async removeDestination({ path, context }) {
      await integrations.removeDestination(path, context);
    },

    async rotateSecret({ path, body, context }) {
      const request = { ...path, overlapHours: body?.overlapHours ?? DEFAULT_OVERLAP_HOURS };
      return writeRotatedSecret(await integrations.rotateSecret(request, context));
    },
  });
}
