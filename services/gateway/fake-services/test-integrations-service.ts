/** For tests: the integrations service, as the gateway calls it. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { generateApiKey } from '@creditlane/crypto/api-key';
import {
  EnablementService,
  EnablementStatus,
} from '@creditlane/proto/integrations/v1/enablement_service';
import {
  AccessService,
  DestinationsService,
  GrantSide,
  IntegrationsService,
  Permission,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { Call } from '@creditlane/rpc/call';
import { notFound, unauthenticated } from '@creditlane/rpc/fault';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { fakeService } from '@creditlane/rpc/test-fake-service';
import { newId } from '@creditlane/runtime/ids';
import { createTestQuotas } from '../limits/test-quotas.ts';
import type { TestServices } from './test-services.ts';

/** The contracts of the integrations service. */
export function fakeIntegrationsService(services: TestServices): ServiceRoutes[] {
  const ok = (method: string) => async (request: object, call: Call) => {
    services.record(method, request, call);
    return {};
  };
  const onCreditor = (method: string, request: { creditorId: string }, call: Call) => {
    services.record(method, request, call);
    if (call.identity.creditorId !== request.creditorId) {
      throw notFound('creditor_not_found', 'there is no such creditor');
    }
    if (call.idempotency?.key === 'replayed') call.markReplayed();
  };
  return [
    fakeAccess(services),
    fakeDestinations(services),
    fakeService(EnablementService, {
      enableIntegration: async (request, call) => {
        onCreditor('enableIntegration', request, call);
        return { status: EnablementStatus.ENABLED };
      },
      disableIntegration: async (request, call) => {
        onCreditor('disableIntegration', request, call);
        return { status: EnablementStatus.DISABLED };
      },
      setIntegrationStatus: async (request, call) => {
        onCreditor('setIntegrationStatus', request, call);
        return { status: request.status };
      },
      enableForRetailer: ok('enableForRetailer'),
      getIntegrationEnablement: async (request, call) => {
        onCreditor('getIntegrationEnablement', request, call);
        return services.enablement;
      },
    }),
    fakeService(IntegrationsService, {
      registerIntegration: async (request, call) => {
        services.record('registerIntegration', request, call);
        if (call.idempotency?.key === 'replayed') call.markReplayed();
        return { integrationId: request.integrationId || newId() };
      },
      getIntegration: async (request, call) => {
        services.record('getIntegration', request, call);
        return {
          integrationId: request.integrationId,
          name: 'Maple Lending Bridge',
          permissions: [Permission.ENQUEUE_RETAILER_CHAT],
          rateLimit: { requests: 600, windowSeconds: 60 },
          keys: [
            { keyId: newId(), createdAt: timestampFromDate(new Date('2026-02-01T09:00:00Z')) },
          ],
          destination: { destinationId: newId(), url: 'https://hooks.maple.example/creditlane' },
        };
      },
      issueKey: async (request, call) => {
        services.record('issueKey', request, call);
        return { keyId: newId(), key: generateApiKey(request.live) };
      },
      revokeKey: ok('revokeKey'),
      grantRetailer: ok('grantRetailer'),
      grantCreditor: ok('grantCreditor'),
      setDestination: async (request, call) => {
        services.record('setDestination', request, call);
        if (call.idempotency?.key === 'replayed') call.markReplayed();
        return { destinationId: newId(), secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' };
      },
      removeDestination: ok('removeDestination'),
      rotateSecret: async (request, call) => {
        services.record('rotateSecret', request, call);
        return {
          secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfFJrp1TMY=',
          overlapEndsAt: timestampFromDate(new Date('2026-02-02T12:00:00Z')),
        };
      },
    }),
  ];
}

function fakeAccess(services: TestServices) {
  const takeRequests = createTestQuotas();
  return fakeService(AccessService, {
    authenticate: async (request, call) => {
      services.record('authenticate', request, call);
      await services.gates.authenticate.pop()?.(call);
      const known = services.keys.get(Buffer.from(request.keyDigest).toString('hex'));
      if (known === undefined) throw unauthenticated('key_unknown', 'no caller has this key');
      const { id: callerId, ...owner } = known;
      return { callerId, ...owner };
    },
    // Not recorded: when a quota is taken depends on the time, and not on the request at hand.
    takeRequests: async (request) => takeRequests(request),
    checkGrants: async (request, call) => {
      services.record('checkGrants', request, call);
      const { integrationId, retailerId, creditorId } = request;
      return {
        retailer: services.grants.has(`${integrationId} ${retailerId}`),
        creditor: services.grants.has(`${integrationId} ${creditorId}`),
        disabledCreditor: services.disabledGrants.has(`${integrationId} ${creditorId}`),
      };
    },
    listGrants: async (request, call) => {
      services.record('listGrants', request, call);
      const { integrationId, side, limit } = request;
      const named = side === GrantSide.RETAILER ? services.retailers : services.creditors;
      const ids = [...named.keys()].filter((id) => services.grants.has(`${integrationId} ${id}`));
      const grantedAt = timestampFromDate(new Date('2026-02-01T09:00:00Z'));
      const disabled = side === GrantSide.CREDITOR;
      const grants = ids.slice(0, limit).map((id) => ({ id, grantedAt, disabled }));
      return { grants, nextCursor: ids.length > limit ? 'next' : '' };
    },
  });
}

/** Every integration with a grant has a destination. */
function fakeDestinations(services: TestServices) {
  return fakeService(DestinationsService, {
    findRecipients: async (request, call) => {
      services.record('findRecipients', request, call);
      const byPair = request.pairs.map(({ retailerId, creditorId, integrationId }) => {
        const granted = [retailerId, creditorId].filter((id) =>
          services.grants.has(`${integrationId} ${id}`),
        );
        return { recipients: granted.map(() => ({ destinationId: newId() })) };
      });
      return { byPair };
    },
  });
}
