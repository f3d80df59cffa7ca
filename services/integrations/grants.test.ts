import { randomUUID } from 'node:crypto';
import type { Identity } from '@creditlane/rpc/identity';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  asGateway,
  asPlatform,
  registerTestIntegration,
  useIntegrations,
} from './test-integrations.ts';

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

  test('is never live for an id that is no UUID', async () => {
    expect(await check({ retailerId: 'R-17', creditorId: '' })).toMatchObject({
      retailer: false,
      creditor: false,
    });
  });
});
