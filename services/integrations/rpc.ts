/** IntegrationsService: how the platform's administration manages integrations, keys, grants and destinations. */
import { setTimeout } from 'node:timers/promises';
import {
  type ActSubject,
  type PlatformAction,
  recordAct,
} from '@creditlane/platform-acts/platform-acts';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import { IntegrationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import type { Call } from '@creditlane/rpc/call';
import { notFound } from '@creditlane/rpc/fault';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { type RotateSecretDeps, rotateSecret } from './destinations/rotate-secret.ts';
import { type SetDestinationDeps, setDestination } from './destinations/set-destination.ts';
import { getIntegration } from './get-integration.ts';
import { integrationRecords } from './integration.ts';
import { type IssueKeyDeps, issueKey } from './keys/issue-key.ts';
import {
  changeIntegration,
  type RegisterIntegrationDeps,
  registerIntegration,
} from './register-integration.ts';
import { deleteDestination } from './store/destinations.ts';
import { type GrantSide, revokeGrant, saveGrant } from './store/grants.ts';
import { revokeKey } from './store/keys.ts';

export type RpcDeps = RegisterIntegrationDeps &
  IssueKeyDeps &
  SetDestinationDeps &
  RotateSecretDeps & {
    /** How long the webhook dispatcher may use what it has been told of a destination. */
    destinationUsableMs: number;
  };

const SIDE_NAMES = { retailer: 'RETAILER', creditor: 'CREDITOR' } as const;

/** A timer may end a moment early. */
const TIMER_MARGIN_MS = 20;

/** The routes of IntegrationsService to mount. */
export function integrationsRoutes(deps: RpcDeps): ServiceRoutes {
  const { requests, clock, destinationUsableMs } = deps;
  /** Resolves once nothing is sent any more to what a destination was before a change that is committed. */
  const untilInForce = () => setTimeout(destinationUsableMs + TIMER_MARGIN_MS);
  /** Changes records of the integration, and records the act. */
  const change = async (
    call: Call,
    action: PlatformAction,
    subject: { integrationId: string } & ActSubject,
    work: (tx: Queryable) => Promise<void>,
  ): Promise<object> => {
    const db = await integrationRecords(requests, call, subject.integrationId);
    await inTransaction(db, async (tx) => {
      await work(tx);
      await recordAct(tx, call, action, subject);
    });
    return {};
  };
  const setGrant = (
    side: GrantSide,
    { integrationId, granted }: { integrationId: string; granted: boolean },
    id: string,
    call: Call,
  ): Promise<object> => {
    const action = `${SIDE_NAMES[side]}_${granted ? 'GRANTED' : 'WITHDRAWN'}` as const;
    const subject = side === 'retailer' ? { retailerId: id } : { creditorId: id };
    const set = granted ? saveGrant : revokeGrant;
    return change(call, action, { integrationId, ...subject }, (tx) =>
      set(tx, side, integrationId, id, clock()),
    );
  };

  return implement(IntegrationsService, {
    registerIntegration: (request, call) => registerIntegration(deps, request, call),

    async changeIntegration(request, call) {
      await changeIntegration(requests, request, call);
      return {};
    },

    getIntegration: ({ integrationId }, call) =>
      getIntegration(requests.of(call, { integrations: [integrationId] }), integrationId),

    issueKey: (request, call) => issueKey(deps, request, call),

    revokeKey: ({ integrationId, keyId }, call) =>
      change(call, 'KEY_REVOKED', { integrationId, keyId }, async (tx) => {
        const exists = await revokeKey(tx, integrationId, keyId, clock());
        if (!exists) throw notFound('key_not_found', 'The integration has no such key.');
      }),

    grantRetailer: (request, call) => setGrant('retailer', request, request.retailerId, call),

    grantCreditor: (request, call) => setGrant('creditor', request, request.creditorId, call),

    async setDestination(request, call) {
      const response = await setDestination(deps, request, call);
      // The first setting, which shows the secret, changes nothing that is in use.
      if (response.secret === '') await untilInForce();
      return response;
    },

    async removeDestination({ integrationId }, call) {
      await change(call, 'DESTINATION_REMOVED', { integrationId }, (tx) =>
        deleteDestination(tx, integrationId),
      );
      await untilInForce();
      return {};
    },

    async rotateSecret(request, call) {
      const response = await rotateSecret(deps, request, call);
      await untilInForce();
      return response;
    },
  });
}
