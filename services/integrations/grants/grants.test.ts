import { randomUUID } from 'node:crypto';
import type { Identity } from '@creditlane/rpc/identity';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  asDispatcher,
  asGateway,
  asPlatform,
  registerTestIntegration,
  useIntegrations,
} from '../test-integrations.ts';

const fixture = useIntegrations();

describe('a grant', () => {
  let integrationId: string;
  const retailerId = randomUUID();
  const creditorId = randomUUID();
  beforeEach(async () => {
    integrationId = await registerTestIntegration(fixture);
  });

  const check = (ids: { retailerId?: string; creditorId?: string }) =>
    fixture.access.checkGrants({ integrationId, ...ids }, asGateway);

  test('is live for its integration and its side only, until it is revoked', async () => {
    expect(await check({ retailerId, creditorId })).toMatchObject({
      retailer: false,
      creditor: false,
    });
    const retailer = { integrationId, retailerId };
    await fixture.integrations.grantRetailer({ ...retailer, granted: true }, asPlatform);
    expect(await check({ retailerId, creditorId })).toMatchObject({
      retailer: true,
      creditor: false,
    });
    expect(await check({ retailerId: creditorId, creditorId: retailerId })).toMatchObject({
      retailer: false,
      creditor: false,
    });
    await fixture.integrations.grantRetailer({ ...retailer, granted: false }, asPlatform);
    expect(await check({ retailerId })).toMatchObject({ retailer: false });
    await fixture.integrations.grantRetailer({ ...retailer, granted: true }, asPlatform);
    expect(await check({ retailerId: retailerId.toUpperCase() })).toMatchObject({ retailer: true });
  });

  test('made twice is one grant', async () => {
    const creditor = { integrationId, creditorId, granted: true };
    await fixture.integrations.grantCreditor(creditor, asPlatform);
    await fixture.integrations.grantCreditor(creditor, asPlatform);
    expect(await check({ creditorId })).toMatchObject({ creditor: true });
    await fixture.integrations.grantCreditor({ ...creditor, granted: false }, asPlatform);
    expect(await check({ creditorId })).toMatchObject({ creditor: false });
  });

  test('for a creditor that has disabled the integration is not live, even if it is granted again', async () => {
    const creditor = { integrationId, creditorId, granted: true };
    await fixture.integrations.grantCreditor(creditor, asPlatform);
    const identity: Identity = {
      kind: 'integration',
      subject: integrationId,
      permissions: [],
      creditorId,
    };
    await fixture.enablement.disableIntegration({ creditorId }, { identity });
    expect(await check({ creditorId })).toMatchObject({ creditor: false });
    await fixture.integrations.grantCreditor({ ...creditor, granted: false }, asPlatform);
    await fixture.integrations.grantCreditor(creditor, asPlatform);
    expect(await check({ creditorId })).toMatchObject({ creditor: false });
  });

  test('makes its integration a recipient, also of an event that only one integration may receive', async () => {
    const recipientsOf = async (query: object) => {
      const pairs = [{ retailerId, creditorId, ...query }];
      const { byPair } = await fixture.destinations.findRecipients({ pairs }, asDispatcher);
      return byPair[0]?.recipients.map((recipient) => recipient.destinationId);
    };
    const url = 'https://hooks.example.com';
    const { destinationId } = await fixture.integrations.setDestination(
      { integrationId, url },
      asPlatform,
    );
    expect(await recipientsOf({ integrationId })).toEqual([]);
    await fixture.integrations.grantRetailer(
      { integrationId, retailerId, granted: true },
      asPlatform,
    );
    const other = await registerTestIntegration(fixture);
    await fixture.integrations.setDestination({ integrationId: other, url }, asPlatform);
    await fixture.integrations.grantCreditor(
      { integrationId: other, creditorId, granted: true },
      asPlatform,
    );
    expect(await recipientsOf({ integrationId })).toEqual([destinationId]);
    expect(await recipientsOf({})).toHaveLength(2);
    expect(await recipientsOf({ integrationId: randomUUID() })).toEqual([]);
    const elsewhere = { retailerId: randomUUID(), creditorId: randomUUID() };
    expect(await recipientsOf({ integrationId, ...elsewhere })).toEqual([]);
  });

  test('is never live for an id that is no UUID', async () => {
    expect(await check({ retailerId: 'R-17', creditorId: '' })).toMatchObject({
      retailer: false,
      creditor: false,
    });
  });
});
