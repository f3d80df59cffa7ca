import { randomUUID } from 'node:crypto';
import { Permission } from '@creditlane/proto/integrations/v1/integrations_service';
import { expect, test } from 'vitest';
import { asPlatform, registerTestIntegration, useIntegrations } from './test-integrations.ts';

const fixture = useIntegrations();

const get = (integrationId: string) =>
  fixture.integrations.getIntegration({ integrationId }, asPlatform);

test('an integration is read with its unrevoked keys, the newest first, and its destination', async () => {
  const integrationId = await registerTestIntegration(fixture, [Permission.READ_SIN]);
  const issue = () => fixture.integrations.issueKey({ integrationId }, asPlatform);
  const [old, revoked, young] = [await issue(), await issue(), await issue()];
  await fixture.integrations.revokeKey({ integrationId, keyId: revoked.keyId }, asPlatform);
  const url = 'https://hooks.example/creditlane';
  const { destinationId } = await fixture.integrations.setDestination(
    { integrationId, url },
    asPlatform,
  );
  const found = await get(integrationId.toUpperCase());
  expect(found).toMatchObject({
    integrationId,
    permissions: [Permission.READ_SIN],
    keys: [{ keyId: young.keyId }, { keyId: old.keyId }],
    destination: { destinationId, url, events: [] },
  });
  expect(found.rateLimit).toBeUndefined();
});

test('an integration is read with its event filter, unless an earlier version has set the destination since', async () => {
  const integrationId = await registerTestIntegration(fixture);
  const events = ['applicationDeclined', 'applicationBooked'];
  const request = { integrationId, url: 'https://hooks.example/creditlane', events };
  await fixture.integrations.setDestination(request, asPlatform);
  expect((await get(integrationId)).destination).toMatchObject({ events });
  await fixture.sql.query(
    'UPDATE destinations SET revision = revision + 1 WHERE integration_id = $1',
    [integrationId],
  );
  expect((await get(integrationId)).destination).toMatchObject({ events: [] });
});

test('an integration is read with the rate limit of its destination, as long as that is in force', async () => {
  const integrationId = await registerTestIntegration(fixture);
  const request = { integrationId, url: 'https://hooks.example/creditlane' };
  await fixture.integrations.setDestination({ ...request, deliveriesPerSecond: 20 }, asPlatform);
  expect((await get(integrationId)).destination).toMatchObject({ deliveriesPerSecond: 20 });
  await fixture.sql.query(
    'UPDATE destinations SET revision = revision + 1 WHERE integration_id = $1',
    [integrationId],
  );
  expect((await get(integrationId)).destination?.deliveriesPerSecond).toBeUndefined();
});

test('an integration that has only a rate limit is read without keys and destination', async () => {
  const rateLimit = { requests: 600, windowSeconds: 60 };
  const { integrationId } = await fixture.integrations.registerIntegration(
    { name: 'DealerDesk', rateLimit },
    asPlatform,
  );
  const found = await get(integrationId);
  expect(found).toMatchObject({ name: 'DealerDesk', permissions: [], rateLimit, keys: [] });
  expect(found.destination).toBeUndefined();
});

test('an integration that does not exist is not found', async () => {
  const missing = get(randomUUID());
  await expect(missing).rejects.toMatchObject({ code: 'integration_not_found' });
});
