/** IntegrationsService: how the platform's administration manages integrations, keys, grants and destinations. */
import { translateDatabaseErrors } from '@creditlane/postgres/database-fault';
import { IntegrationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import { notFound } from '@creditlane/rpc/fault';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { type RotateSecretDeps, rotateSecret } from './destinations/rotate-secret.ts';
import { type SetDestinationDeps, setDestination } from './destinations/set-destination.ts';
import { requireIntegration } from './integration.ts';
import { type IssueKeyDeps, issueKey } from './issue-key.ts';
import { type RegisterIntegrationDeps, registerIntegration } from './register-integration.ts';
import { deleteDestination } from './store/destinations.ts';
import { type GrantSide, revokeGrant, saveGrant } from './store/grants.ts';
import { revokeKey } from './store/keys.ts';

export type RpcDeps = RegisterIntegrationDeps &
  IssueKeyDeps &
  SetDestinationDeps &
  RotateSecretDeps;

/**
 * The routes of IntegrationsService to mount. Ids may arrive in either case; tables and sealed records
 * have them in lower case.
 */
export function integrationsRoutes(deps: RpcDeps): ServiceRoutes {
  const { database, clock } = deps;
  const setGrant = async (
    side: GrantSide,
    { integrationId, granted }: { integrationId: string; granted: boolean },
    id: string,
  ): Promise<object> => {
    await requireIntegration(database, integrationId);
    const change = granted ? saveGrant : revokeGrant;
    await change(database, side, integrationId, id.toLowerCase(), clock());
    return {};
  };

  return implement(
    IntegrationsService,
    translateDatabaseErrors({
      registerIntegration: (request, call) =>
        registerIntegration(deps, lowerCaseIntegrationId(request), call),

      issueKey: (request, call) => issueKey(deps, lowerCaseIntegrationId(request), call),

      async revokeKey(request) {
        const { integrationId, keyId } = lowerCaseIntegrationId(request);
        await requireIntegration(database, integrationId);
        const exists = await revokeKey(database, integrationId, keyId.toLowerCase(), clock());
        if (!exists) throw notFound('key_not_found', 'The integration has no such key.');
        return {};
      },

      grantRetailer: (request) =>
        setGrant('retailer', lowerCaseIntegrationId(request), request.retailerId),

      grantCreditor: (request) =>
        setGrant('creditor', lowerCaseIntegrationId(request), request.creditorId),

      setDestination: (request) => setDestination(deps, lowerCaseIntegrationId(request)),

      async removeDestination(request) {
        const { integrationId } = lowerCaseIntegrationId(request);
        await requireIntegration(database, integrationId);
        await deleteDestination(database, integrationId);
        return {};
      },

      rotateSecret: (request, call) => rotateSecret(deps, lowerCaseIntegrationId(request), call),
    }),
  );
}

function lowerCaseIntegrationId<R extends { integrationId: string }>(request: R): R {
  return { ...request, integrationId: request.integrationId.toLowerCase() };
}
