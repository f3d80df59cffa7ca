/** The integrations service as the dispatcher sees it, for tests: everyone may know of everything. */
import { randomBytes, randomUUID } from 'node:crypto';
import { DestinationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import { unavailable } from '@creditlane/rpc/fault';
import { startGrpcServer } from '@creditlane/rpc/grpc/server';
import { TokenVerifier } from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory/server';
import { implement } from '@creditlane/rpc/service';
import { createTestProcess } from '@creditlane/runtime/test-process';

/** Believes the dispatcher with this public key. */
export function createTestIntegrations(dispatcherKey: string) {
  const destinations = new Map<string, { url: string; secrets: Uint8Array[]; revision: number }>();
  /** `questions` counts how often it was asked who is to be told. */
  const state = { away: false, questions: 0 };
  const whileHere = <T>(answer: () => T): T => {
    if (state.away) throw unavailable('away for the test');
    return answer();
  };
  const routes = implement(DestinationsService, {
    findRecipients: async ({ pairs }) =>
      whileHere(() => {
        state.questions += 1;
        const recipients = [...destinations].map(([destinationId, { revision }]) => ({
          destinationId,
          revision,
        }));
        return { byPair: pairs.map(() => ({ recipients })) };
      }),
    getDestinations: async ({ destinationIds }) =>
      whileHere(() => ({
        destinations: destinationIds.flatMap((destinationId) => {
          const found = destinations.get(destinationId);
          return found ? [{ destinationId, integrationId: destinationId, ...found }] : [];
        }),
      })),
  });
  const { log, metrics, closers } = createTestProcess('integrations');
  const trusted = { 'webhook-dispatcher': dispatcherKey };
  const verifier = new TokenVerifier({ audience: 'integrations', trusted });
  const around = { verifier, log, metrics };
  return {
    state,
    destinations,
    target: { kind: 'memory', transport: mountInMemory([routes], around) } as const,
    add(url: string) {
      const destinationId = randomUUID();
      const secret = randomBytes(32);
      destinations.set(destinationId, { url, secrets: [secret], revision: 1 });
      return { destinationId, secret };
    },
    /** Sets a destination anew, as its owner does through the platform. */
    set(destinationId: string, url: string) {
      const known = destinations.get(destinationId);
      if (known === undefined) throw new Error('there is no such destination');
      destinations.set(destinationId, { ...known, url, revision: known.revision + 1 });
    },
    /** Serves over gRPC as well, for other processes; gives the address. */
    async serve(): Promise<string> {
      const server = await startGrpcServer({
        port: 0,
        host: '127.0.0.1',
        routes: [routes],
        ...around,
      });
      closers.add('gRPC server', server.close);
      return `127.0.0.1:${server.port}`;
    },
    close: () => closers.close(),
  };
}
