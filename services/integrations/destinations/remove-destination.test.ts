import { randomUUID } from 'node:crypto';
import { toFault } from '@creditlane/rpc/fault';
import { beforeEach, expect, test } from 'vitest';
import {
  asDispatcher,
  asPlatform,
  readDestination,
  registerTestIntegration,
  useIntegrations,
} from '../test-integrations.ts';

const fixture = useIntegrations();

let integrationId: string;
beforeEach(async () => {
  integrationId = await registerTestIntegration(fixture);
});

const set = () =>
  fixture.integrations.setDestination({ integrationId, url: 'https://a.example/' }, asPlatform);
const remove = () => fixture.integrations.removeDestination({ integrationId }, asPlatform);
const rotate = () =>
  fixture.integrations.rotateSecret({ integrationId, overlapHours: 24 }, asPlatform);

test('a removed destination receives no event, and none of its secrets stays in the database', async () => {
  const pair = { retailerId: randomUUID(), creditorId: randomUUID() };
  const grant = { integrationId, retailerId: pair.retailerId, granted: true };
  await fixture.integrations.grantRetailer(grant, asPlatform);
  const { destinationId } = await set();
  await rotate();
  await remove();

  expect(await readDestination(fixture, destinationId)).toBeUndefined();
  const { byPair } = await fixture.destinations.findRecipients({ pairs: [pair] }, asDispatcher);
  expect(byPair).toMatchObject([{ recipients: [] }]);
  const { rows } = await fixture.sql.query(
    `SELECT integration_id FROM destinations WHERE integration_id = $1
     UNION ALL SELECT integration_id FROM previous_secrets WHERE integration_id = $1`,
    [integrationId],
  );
  expect(rows).toEqual([]);
});

test('a destination that is set after a removal is a new one, with a new secret alone', async () => {
  const first = await set();
  await rotate();
  await remove();
  const second = await set();
  expect(second.destinationId).not.toBe(first.destinationId);
  expect(second.secret).toMatch(/^whsec_/);
  expect(second.secret).not.toBe(first.secret);
  expect(await readDestination(fixture, second.destinationId)).toMatchObject({
    revision: 1,
    secrets: [second.secret],
  });
});

test('removing what is not set changes nothing; an unknown integration is refused', async () => {
  await remove();
  await set();
  await remove();
  await remove();
  integrationId = randomUUID();
  await expect(remove()).rejects.toMatchObject({
    kind: 'not_found',
    code: 'integration_not_found',
  });
});

test('removals, settings and rotations at the same time succeed, or find no destination to rotate', async () => {
  const calls = Array.from({ length: 10 }, () => [set(), remove(), rotate()]).flat();
  for (const outcome of await Promise.allSettled(calls)) {
    if (outcome.status === 'fulfilled') continue;
    expect(toFault(outcome.reason).code).toMatch(/^(destination_not_found|too_many_secrets)$/);
  }
  await remove();
  expect((await set()).secret).toMatch(/^whsec_/);
});
