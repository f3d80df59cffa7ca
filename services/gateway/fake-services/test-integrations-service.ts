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
  type TakeRequestsRequest,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { Call } from '@creditlane/rpc/call';
import { notFound, unauthenticated } from '@creditlane/rpc/fault';
import type { Handlers, ServiceRoutes } from '@creditlane/rpc/service';
import { newId } from '@creditlane/runtime/ids';
import { createTestQuotas } from '../limits/test-quotas.ts';
import { fakePlatformActs } from './test-platform-acts.ts';
import { recordingFake, type TestServices } from './test-services.ts';

/** The contracts of the integrations service. */
export function fakeIntegrationsService(services: TestServices): ServiceRoutes[] {
  const ok = async () => ({});
  const requireCreditor = (request: { creditorId: string }, call: Call) => {
    if (call.identity.creditorId !== request.creditorId) {
      throw notFound('creditor_not_found', 'there is no such creditor');
    }
  };
  return [
    fakePlatformActs(services, 'integrations'),
    fakeAccess(services),
    fakeDestinations(services),
    recordingFake(services, EnablementService, {
      enableIntegration: async (request, call) => {
        requireCreditor(request, call);
        return { status: EnablementStatus.ENABLED };
      },
      disableIntegration: async (request, call) => {
        requireCreditor(request, call);
        return { status: EnablementStatus.DISABLED };
      },
      setIntegrationStatus: async (request, call) => {
        requireCreditor(request, call);
        return { status: request.status };
      },
      enableForRetailer: ok,
      getIntegrationEnablement: async (request, call) => {
        requireCreditor(request, call);
        return services.enablement;
      },
    }),
    recordingFake(services, IntegrationsService, {
      registerIntegration: async (request) => ({
        integrationId: request.integrationId || newId(),
        ...services.registered,
      }),
      changeIntegration: ok,
      getIntegration: async (request) => ({
        integrationId: request.integrationId,
        name: 'Maple Lending Bridge',
        permissions: [Permission.ENQUEUE_RETAILER_CHAT],
        rateLimit: { requests: 600, windowSeconds: 60 },
        keys: [{ keyId: newId(), createdAt: timestampFromDate(new Date('2026-02-01T09:00:00Z')) }],
        destination: {
          destinationId: newId(),
          url: 'https://hooks.maple.example/creditlane',
          events: services.eventFilter,
          deliveriesPerSecond: services.deliveriesPerSecond,
        },
      }),
      issueKey: async (request) => ({ keyId: newId(), key: generateApiKey(request.live) }),
      revokeKey: ok,
      grantRetailer: ok,
      grantCreditor: ok,
      setDestination: async () => ({
        destinationId: newId(),
        secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      }),
      removeDestination: ok,
      rotateSecret: async () => ({
        secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfFJrp1TMY=',
        overlapEndsAt: timestampFromDate(new Date('2026-02-02T12:00:00Z')),
      }),
    }),
  ];
}

function fakeAccess(services: TestServices) {
  const takeRequests = createTestQuotas();
  const recorded: Partial<Handlers<typeof AccessService>> = {
    authenticate: async (request, call) => {
      await services.gates.authenticate.pop()?.(call);
      const known = services.keys.get(Buffer.from(request.keyDigest).toString('hex'));
      if (known === undefined) throw unauthenticated('key_unknown', 'no caller has this key');
      const { id: callerId, ...owner } = known;
      return { callerId, ...owner };
    },
    checkGrants: async (request) => {
      const { integrationId, retailerId, creditorId } = request;
      return {
        retailer: services.grants.has(`${integrationId} ${retailerId}`),
        creditor: services.grants.has(`${integrationId} ${creditorId}`),
        disabledCreditor: services.disabledGrants.has(`${integrationId} ${creditorId}`),
      };
    },
    listGrants: async (request) => {
      const { integrationId, side, limit } = request;
      const named = side === GrantSide.RETAILER ? services.retailers : services.creditors;
      const ids = [...named.keys()].filter((id) => services.grants.has(`${integrationId} ${id}`));
      const grantedAt = timestampFromDate(new Date('2026-02-01T09:00:00Z'));
      const disabled = side === GrantSide.CREDITOR;
      const grants = ids.slice(0, limit).map((id) => ({ id, grantedAt, disabled }));
      return { grants, nextCursor: ids.length > limit ? 'next' : '' };
    },
  };
  // When a quota is taken depends on the time, and not on the request at hand.
  const unrecorded = {
    takeRequests: async (request: TakeRequestsRequest) => takeRequests(request),
  };
  return recordingFake(services, AccessService, recorded, unrecorded);
}

/** Every integration with a grant has a destination, with the event filter of all. */
function fakeDestinations(services: TestServices) {
  return recordingFake(services, DestinationsService, {
    findRecipients: async (request) => {
      const { eventFilter } = services;
      const byPair = request.pairs.map(({ retailerId, creditorId, integrationId, event }) => {
        if (event && eventFilter.length > 0 && !eventFilter.includes(event)) return {};
        const granted = [retailerId, creditorId].filter((id) =>
          services.grants.has(`${integrationId} ${id}`),
        );
        return { recipients: granted.map(() => ({ destinationId: newId() })) };
      });
      return { byPair };
    },
  });
}
