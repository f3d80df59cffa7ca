import { randomUUID } from 'node:crypto';
import { DestinationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import { generateIdentityKeys } from '@creditlane/rpc/credentials/identity-keys';
import { deadlineExceeded } from '@creditlane/rpc/fault';
import { TokenSigner } from '@creditlane/rpc/identity';
import { connectPeer } from '@creditlane/rpc/peer-client';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { expect, onTestFinished, test } from 'vitest';
import { GRANT_MS } from '../queue/delivery.ts';
import { upTo } from '../test-fixture.ts';
import { createTestIntegrations } from '../test-integrations.ts';
import { Destinations } from './destinations.ts';

/** An integrations service for the test, and its client. */
function connect() {
  const identity = generateIdentityKeys();
  const integrations = createTestIntegrations(identity.publicKey);
  onTestFinished(() => integrations.close());
  const { closers, health, metrics } = createTestProcess('webhook-dispatcher');
  onTestFinished(() => closers.close());
  const signer = new TokenSigner({
    issuer: 'webhook-dispatcher',
    privateKey: identity.privateKey,
  });
  const endpoints = { integrations: integrations.endpoint };
  const peers = { endpoints, signer, closers, health, metrics };
  const client = connectPeer(DestinationsService, 'integrations', peers);
  return { destinations: new Destinations(client, 0), integrations };
}

test('an integrations service that answers nothing costs two deadlines, and the next attempt asks for less', async () => {
  const { destinations, integrations } = connect();
  const searches = upTo(200).map(() => ({
    query: { retailerId: randomUUID(), creditorId: randomUUID() },
  }));
  const { state } = integrations;
  state.refusal = deadlineExceeded();
  state.maxPairs = 60;
  const find = () => destinations.granted.find(searches, undefined);
  await expect(find()).rejects.toMatchObject({ kind: 'deadline' });
  expect(state.refusedCalls).toBe(2);
  expect(await find()).toHaveLength(200);
});

test('grants that are asked for at the same time are one call, and one that was found is relied on for a short time', async () => {
  const { destinations, integrations } = connect();
  const { state } = integrations;
  const { destinationId } = integrations.add('https://a.example/');
  const payloads = upTo(20).map(() => ({ retailerId: randomUUID() }));
  // The id of a destination is also that of its integration.
  const find = () =>
    Promise.all(payloads.map((it) => destinations.grantEndMs(it, destinationId, undefined)));
  state.withoutGrants.add(destinationId);
  expect(await find()).toEqual(payloads.map(() => undefined));
  state.withoutGrants.clear();
  const earliestEndMs = performance.now() + GRANT_MS;
  const found = await find();
  expect(found.filter((endMs) => endMs === undefined || endMs < earliestEndMs)).toEqual([]);
  expect(state.findRecipientsCalls).toBe(2);
  state.withoutGrants.add(destinationId);
  expect(await find()).toEqual(found);
  expect(state.findRecipientsCalls).toBe(2);
});
