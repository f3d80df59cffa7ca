/** The platform's operations on integrations: registration, keys, grants and destinations. */
import { hash } from 'node:crypto';
import {
  type IntegrationsService,
  RegisterIntegrationRequestSchema,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { Client } from '@creditlane/rpc/client';
import { newId } from '@creditlane/runtime/ids';
import type { Handler, Handlers, OperationCall } from '../handler.ts';
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
    async registerIntegration(call) {
      const { body, context } = call;
      const integrationId = idOf(call);
      await integrations.registerIntegration({ ...readRegistration(body), integrationId }, context);
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

/**
 * The id that the request gives, else one that follows from its Idempotency-Key, so that a repeated
 * request is about the same integration; without a key a new one.
 */
function idOf({ body, context: { identity, idempotencyKey } }: OperationCall): string {
  const given = body.integrationId;
  if (typeof given === 'string') return given.toLowerCase();
  if (idempotencyKey === undefined) return newId();
  const bytes = hash('sha256', `integration\n${identity.subject}\n${idempotencyKey}`, 'buffer');
  // UUID version 8 (RFC 9562, section 5.8): the bits are ours.
  bytes.writeUInt8(0x80 | (bytes.readUInt8(6) & 0x0f), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString('hex', 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
