import { seal, unseal } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { EgressPolicy } from '@creditlane/egress-rules/destination-url';
import { translateDatabaseErrors } from '@creditlane/postgres/database-fault';
import { Caller } from '@creditlane/proto/common/v1/access';
import {
  AccessService,
  DestinationsService,
  IntegrationsService,
  RegisterIntegrationResponseSchema,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { type Fault, notFound, unauthenticated } from '@creditlane/rpc/fault';
import { FieldFaults } from '@creditlane/rpc/field-faults';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import type { Clock } from '@creditlane/runtime/clock';
import { isUuid } from '@creditlane/runtime/ids';
import { checkDestinationUrl, makeSigningSecret, secretContext } from './destination.ts';
import type { GrantSide } from './grant.ts';
import { issueKey } from './issue-key.ts';
import type { KeptAnswers } from './kept-answers.ts';
import type { PlatformKeys } from './key.ts';
import { permissionNames } from './permission.ts';
import type { RecipientRow, Store } from './store.ts';

export interface RpcDeps {
  store: Store;
  answers: KeptAnswers;
  keyRing: KeyRing;
  platformKeys: PlatformKeys;
  /** Where webhooks may go. */
  destinations: EgressPolicy;
  clock: Clock;
  newId: () => string;
}

/** How the platform keeps the integrations. */
export function integrationsRoutes(deps: RpcDeps): ServiceRoutes {
  const { store, answers, keyRing, destinations, clock, newId } = deps;
  const requireIntegration = async (integrationId: string) => {
    if (!(await store.integrationExists(integrationId))) throw unknownIntegration();
  };

  const setGrant = async (
    side: GrantSide,
    integrationId: string,
    id: string,
    granted: boolean,
  ): Promise<object> => {
    await requireIntegration(integrationId);
    if (granted) await store.grant(side, integrationId, id, clock());
    else await store.revokeGrant(side, integrationId, id, clock());
    return {};
  };

  return implement(
    IntegrationsService,
    translateDatabaseErrors({
      async registerIntegration({ integrationId, name, permissions }, call) {
        const faults = new FieldFaults();
        faults.checkPrintable('/name', name);
        faults.throwIfAny('invalid_integration');
        const row = {
          id: integrationId.toLowerCase() || newId(),
          name,
          permissions: permissionNames(permissions),
          createdAt: clock(),
        };
        return answers.once(
          call,
          RegisterIntegrationResponseSchema,
          { integrationId: row.id },
          (tx) => store.saveIntegration(tx, row),
        );
      },

      async issueKey(request, call) {
        await requireIntegration(request.integrationId);
        return issueKey(deps, request, call);
      },

      async revokeKey({ integrationId, keyId }) {
        await requireIntegration(integrationId);
        const known = await store.revokeKey(integrationId, keyId, clock());
        if (!known) throw notFound('key_not_found', 'The integration has no such key.');
        return {};
      },

      grantRetailer: ({ integrationId, retailerId, granted }) =>
        setGrant('retailer', integrationId, retailerId, granted),

      grantCreditor: ({ integrationId, creditorId, granted }) =>
        setGrant('creditor', integrationId, creditorId, granted),

      async setDestination({ integrationId, url }) {
        checkDestinationUrl(url, destinations);
        await requireIntegration(integrationId);
        const secret = makeSigningSecret();
        const id = newId();
        const saved = await store.saveDestination({
          id,
          integrationId,
          url,
          sealedSecret: seal(keyRing, secret.bytes, secretContext(id, integrationId.toLowerCase())),
          sealedWith: keyRing.currentId,
          createdAt: clock(),
        });
        return { destinationId: saved.id, secret: saved.isNew ? secret.text : '' };
      },
    }),
  );
}

/** The questions that every request begins with. */
export function accessRoutes({ store, platformKeys }: RpcDeps): ServiceRoutes {
  return implement(
    AccessService,
    translateDatabaseErrors({
      async authenticate({ keyDigest: digest }) {
        const owner =
          platformKeys.get(Buffer.from(digest).toString('hex')) ??
          (await store.findKeyOwner(digest));
        if (!owner) throw unauthenticated('key_unknown', 'The key belongs to nobody.');
        const caller = owner.kind === 'platform' ? Caller.PLATFORM : Caller.INTEGRATION;
        return { callerId: owner.callerId, caller, permissions: [...owner.permissions] };
      },

      checkGrants: ({ integrationId, retailerId, creditorId }) =>
        store.checkGrants(integrationId, heldId(retailerId), heldId(creditorId)),
    }),
  );
}

/** Where events go, and with what they are signed. */
export function destinationsRoutes({ store, keyRing }: RpcDeps): ServiceRoutes {
  return implement(
    DestinationsService,
    translateDatabaseErrors({
      async findRecipients({ pairs }) {
        const byPair = await store.findRecipients(pairs);
        return { byPair: byPair.map((rows) => ({ recipients: rows.map(toRecipient) })) };
      },

      async getDestinations({ destinationIds }) {
        const rows = await store.getDestinations(destinationIds);
        const destinations = rows.map(({ id, integrationId, url, sealedSecret, revision }) => ({
          destinationId: id,
          integrationId,
          url,
          revision,
          secrets: [unseal(keyRing, sealedSecret, secretContext(id, integrationId))],
        }));
        return { destinations };
      },
    }),
  );
}

function toRecipient({ destination_id, revision }: RecipientRow) {
  return { destinationId: destination_id, revision };
}

// Empty was not asked for, and a text that is no UUID names nobody: neither can be granted.
function heldId(id: string): string | null {
  return isUuid(id) ? id : null;
}

function unknownIntegration(): Fault {
  return notFound('integration_not_found', 'There is no such integration.');
}
