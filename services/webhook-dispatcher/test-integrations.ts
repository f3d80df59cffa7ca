/** The integrations service as the dispatcher sees it, for tests: every destination receives every event, unless its grants were withdrawn or its event filter lacks the event. */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import {
  EnablementService,
  type GetRetailerEnablementResponseSchema,
} from '@creditlane/proto/integrations/v1/enablement_service';
import { DestinationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import { notFound, resourceExhausted, unavailable } from '@creditlane/rpc/fault';
import { startGrpcServer } from '@creditlane/rpc/grpc/server';
import { TokenVerifier } from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory/server';
import { implement } from '@creditlane/rpc/service';
import { fakeService } from '@creditlane/rpc/test-fake-service';
import { createTestProcess } from '@creditlane/runtime/test-process';

type RetailerEnablement = Exclude<
  MessageInitShape<typeof GetRetailerEnablementResponseSchema>,
  MessageShape<typeof GetRetailerEnablementResponseSchema>
>;

const initialState = () => ({
  isUnavailable: false,
  /** Recipients are found, and their destinations are not. */
  hidesDestinations: false,
  /** The integrations whose grants were withdrawn, which keep their destinations. */
  withoutGrants: new Set<string>(),
  /** The event filters, by destination. */
  eventFilters: new Map<string, readonly string[]>(),
  /** The integrations with READ_SIN. */
  sinReaders: new Set<string>(),
  /** The rate limits, by destination. */
  rateLimits: new Map<string, number>(),
  findRecipientsCalls: 0,
  /** How long finding recipients takes. */
  recipientsDelayMs: 0,
  /** A call with more pairs is refused with `refusal`. */
  maxPairs: 250,
  refusal: resourceExhausted('test', 'too large an answer'),
  refusedCalls: 0,
});

/** The id of a destination is also that of its integration. */
const withIds = (destinationId: string, destination?: object) => ({
  destinationId,
  integrationId: destinationId,
  ...destination,
});

interface TestDestination {
  url: string;
  secrets: Uint8Array[];
  revision: number;
}

/** Accepts tokens that the dispatcher signs with the private key of `dispatcherKey`. */
export function createTestIntegrations(dispatcherKey: string) {
  const destinations = new Map<string, TestDestination>();
  const enablements = new Map<string, RetailerEnablement>();
  const state = initialState();
  const unlessUnavailable = <T>(answer: () => T): T => {
    if (state.isUnavailable) throw unavailable('unavailable for the test');
    return answer();
  };
  const routes = destinationsRoutes(state, destinations, unlessUnavailable);
  const enablementRoutes = fakeService(EnablementService, {
    getRetailerEnablement: async ({ enablementId }) =>
      unlessUnavailable(() => {
        const found = enablements.get(enablementId);
        if (found === undefined) throw notFound('enablement_not_found', 'none for the test');
        return found;
      }),
  });
  const allRoutes = [routes, enablementRoutes];
  const { log, metrics, closers } = createTestProcess('integrations');
  const trusted = { 'webhook-dispatcher': dispatcherKey };
  const verifier = new TokenVerifier({ audience: 'integrations', trusted });
  const mountOptions = { verifier, log, metrics };
  return {
    state,
    destinations,
    /** What GetRetailerEnablement finds, by enablement. */
    enablements,
    endpoint: { kind: 'memory', unary: mountInMemory(allRoutes, mountOptions) } as const,
    add(url: string) {
      const destinationId = randomUUID();
      const secret = randomBytes(32);
      destinations.set(destinationId, { url, secrets: [secret], revision: 1 });
      return { destinationId, secret };
    },
    /** Sets a destination anew: the next revision. */
    set(destinationId: string, url: string) {
      const known = destinations.get(destinationId);
      if (known === undefined) throw new Error('there is no such destination');
      destinations.set(destinationId, { ...known, url, revision: known.revision + 1 });
    },
    /** Sets a destination anew, with this rate limit, or without one. */
    limit(destinationId: string, deliveriesPerSecond?: number) {
      if (deliveriesPerSecond === undefined) state.rateLimits.delete(destinationId);
      else state.rateLimits.set(destinationId, deliveriesPerSecond);
      this.set(destinationId, destinations.get(destinationId)?.url ?? '');
    },
    /** Serves gRPC too, for other processes, and resolves to the address. */
    async serve(): Promise<string> {
      const server = await startGrpcServer({
        port: 0,
        host: '127.0.0.1',
        routes: allRoutes,
        ...mountOptions,
      });
      closers.add('gRPC server', server.close);
      return `127.0.0.1:${server.port}`;
    },
    close: () => closers.close(),
  };
}

function destinationsRoutes(
  state: ReturnType<typeof initialState>,
  destinations: ReadonlyMap<string, TestDestination>,
  unlessUnavailable: <T>(answer: () => T) => T,
) {
  const gets = (destinationId: string, event = '') =>
    event === '' || (state.eventFilters.get(destinationId)?.includes(event) ?? true);
  return implement(DestinationsService, {
    findRecipients: async ({ pairs }) => {
      if (state.recipientsDelayMs > 0) await setTimeout(state.recipientsDelayMs);
      return unlessUnavailable(() => {
        state.findRecipientsCalls += 1;
        if (pairs.length > state.maxPairs) {
          state.refusedCalls += 1;
          throw state.refusal;
        }
        const recipients = [...destinations]
          .filter(([destinationId]) => !state.withoutGrants.has(destinationId))
          .map(([destinationId, { revision }]) => ({ destinationId, revision }));
        // The id of a destination is also that of its integration.
        const recipientsOf = (integrationId: string, event: string) =>
          recipients
            .filter((it) => integrationId === '' || it.destinationId === integrationId)
            .filter((it) => gets(it.destinationId, event));
        return {
          byPair: pairs.map(({ integrationId, event }) => ({
            recipients: recipientsOf(integrationId, event),
          })),
        };
      });
    },
    // The id of a destination is also that of its integration.
    findIntegrationRecipients: async ({ integrationIds, events }) =>
      unlessUnavailable(() => ({
        byIntegration: integrationIds.map((destinationId, index) => {
          const { revision } = destinations.get(destinationId) ?? {};
          const isRecipient = revision !== undefined && gets(destinationId, events[index]);
          return { recipients: isRecipient ? [{ destinationId, revision }] : [] };
        }),
      })),
    getDestinations: async ({ destinationIds }) =>
      unlessUnavailable(() => {
        if (state.hidesDestinations) throw unavailable('hidden for the test');
        const known = destinationIds.filter((it) => destinations.has(it));
        return {
          destinations: known.map((it) => ({
            ...withIds(it, destinations.get(it)),
            events: [...(state.eventFilters.get(it) ?? [])],
            deliveriesPerSecond: state.rateLimits.get(it),
            readsSin: state.sinReaders.has(it),
            integrationName: 'DealerDesk',
          })),
        };
      }),
  });
}
