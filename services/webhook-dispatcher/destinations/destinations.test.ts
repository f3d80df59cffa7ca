import { randomUUID } from 'node:crypto';
import { DestinationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import { unavailable } from '@creditlane/rpc/fault';
import { generateIdentityKeys, TokenSigner, TokenVerifier } from '@creditlane/rpc/identity';
import { mountInMemory } from '@creditlane/rpc/memory/server';
import { implement } from '@creditlane/rpc/service';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Destinations, SERVICE } from './destinations.ts';

it('a lookup that fails late leaves the answer of a newer lookup in the cache', async () => {
  const late = Promise.withResolvers<never>();
  const destinationId = randomUUID();
  const answer = { destinations: [{ destinationId, url: 'https://example.com', revision: 2 }] };
  const getDestinations = vi.fn(async () => answer);
  getDestinations.mockReturnValueOnce(late.promise);
  const routes = implement(DestinationsService, {
    getDestinations,
    findRecipients: async () => ({ byPair: [] }),
    findIntegrationRecipients: async () => ({ byIntegration: [] }),
  });
  const { privateKey, publicKey } = generateIdentityKeys();
  const { log, metrics, closers, health } = createTestProcess(SERVICE);
  onTestFinished(() => closers.close());
  const verifier = new TokenVerifier({
    audience: 'integrations',
    trusted: { [SERVICE]: publicKey },
  });
  const destinations = new Destinations({
    endpoint: { kind: 'memory', transport: mountInMemory([routes], { verifier, log, metrics }) },
    signer: new TokenSigner({ issuer: SERVICE, privateKey }),
    closers,
    health: health.optional,
    metrics,
    cacheMs: 60_000,
  });

  const first = destinations.get(destinationId, undefined);
  await vi.waitFor(() => expect(getDestinations).toHaveBeenCalledOnce());
  expect(await destinations.getUncached(destinationId, undefined)).toMatchObject({ revision: 2 });
  late.reject(unavailable('too late'));
  await expect(first).rejects.toThrow('too late');
  expect(await destinations.get(destinationId, undefined)).toMatchObject({ revision: 2 });
  expect(getDestinations).toHaveBeenCalledTimes(2);
});
