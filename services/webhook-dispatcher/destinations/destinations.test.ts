import { randomUUID } from 'node:crypto';
import { DestinationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import { generateIdentityKeys } from '@creditlane/rpc/credentials/identity-keys';
import { deadlineExceeded } from '@creditlane/rpc/fault';
import { TokenSigner } from '@creditlane/rpc/identity';
import { connectPeer } from '@creditlane/rpc/peer-client';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { expect, onTestFinished, test } from 'vitest';
import { upTo } from '../test-fixture.ts';
import { createTestIntegrations } from '../test-integrations.ts';
import { Destinations } from './destinations.ts';

test('an integrations service that answers nothing costs two deadlines, and the next attempt asks for less', async () => {
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
  const destinations = new Destinations(client, 0);
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
