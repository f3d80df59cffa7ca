/** The integrations service as the dispatcher sees it, for tests: every destination receives every event. */
import { randomBytes, randomUUID } from 'node:crypto';
import { DestinationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import { unavailable } from '@creditlane/rpc/fault';
import { startGrpcServer } from '@creditlane/rpc/grpc/server';
import { TokenVerifier } from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory/server';
import { implement } from '@creditlane/rpc/service';
import { createTestProcess } from '@creditlane/runtime/test-process';

/** Accepts tokens that the dispatcher signs with the private key of `dispatcherKey`. */
export function createTestIntegrations(dispatcherKey: string) {
  const destinations = new Map<string, { url: string; secrets: Uint8Array[]; revision: number }>();
  const state = { isUnavailable: false, findRecipientsCalls: 0 };
  const unlessUnavailable = <T>(answer: () => T): T => {
    if (state.isUnavailable) throw unavailable('unavailable for the test');
    return answer();
  };
  const routes = implement(DestinationsService, {
    findRecipients: async ({ pairs }) =>
      unlessUnavailable(() => {
        state.findRecipientsCalls += 1;
        const recipients = [...destinations].map(([destinationId, { revision }]) => ({
          destinationId,
          revision,
        }));
        return { byPair: pairs.map(() => ({ recipients })) };
      }),
    getDestinations: async ({ destinationIds }) =>
      unlessUnavailable(() => ({
        destinations: destinationIds.flatMap((destinationId) => {
          const found = destinations.get(destinationId);
          return found ? [{ destinationId, integrationId: destinationId, ...found }] : [];
        }),
      })),
  });
  const { log, metrics, closers } = createTestProcess('integrations');
  const trusted = { 'webhook-dispatcher': dispatcherKey };
  const verifier = new TokenVerifier({ audience: 'integrations', trusted });
  const mountOptions = { verifier, log, metrics };
  return {
    state,
    destinations,
    endpoint: { kind: 'memory', transport: mountInMemory([routes], mountOptions) } as const,
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
    /** Serves gRPC too, for other processes, and resolves to the address. */
    async serve(): Promise<string> {
      const server = await startGrpcServer({
        port: 0,
        host: '127.0.0.1',
        routes: [routes],
        ...mountOptions,
      });
      closers.add('gRPC server', server.close);
      return `127.0.0.1:${server.port}`;
    },
    close: () => closers.close(),
  };
}
