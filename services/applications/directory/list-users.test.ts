import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  asGateway,
  asIntegration,
  asPlatform,
  aUser,
  registerTenant,
  type Tenant,
  useTenant,
} from '../test-applications.ts';

const fixture = useTenant();
let other: Tenant;
beforeEach(async () => {
  fixture.tenant = await registerTenant(fixture.applications);
  other = await registerTenant(fixture.applications);
});

interface Query {
  active?: boolean;
  limit?: number;
  cursor?: string;
}

const list = (query: Query = {}, retailerId = fixture.tenant.retailerId) =>
  fixture.applications.service.directory.listUsers(
    { limit: 25, ...query },
    asIntegration(retailerId),
  );

const listIds = async (query?: Query) => (await list(query)).users.map(({ userId }) => userId);

/** Registers a user, and returns the user's id. */
async function register(user: {
  retailerIds?: string[];
  retailerGroupIds?: string[];
  active?: boolean;
}): Promise<string> {
  const userId = randomUUID();
  await fixture.applications.service.directory.registerUser(
    { user: { ...aUser(userId), ...user } },
    asPlatform,
  );
  return userId;
}

describe('the users of a retailer', () => {
  test('are those of the retailer and those of its group, inactive ones included', async () => {
    const ids = [
      fixture.tenant.userId,
      await register({ retailerGroupIds: [fixture.tenant.retailerGroupId] }),
      await register({ retailerIds: [fixture.tenant.retailerId], active: false }),
    ];
    await register({ retailerIds: [other.retailerId] });
    await register({ retailerGroupIds: [other.retailerGroupId] });
    await register({});
    expect(await listIds()).toEqual(ids.toSorted());
  });

  test('show every field, and of their retailers and groups only this one and its own', async () => {
    const userId = await register({
      retailerIds: [other.retailerId, fixture.tenant.retailerId],
      retailerGroupIds: [other.retailerGroupId, fixture.tenant.retailerGroupId],
      active: false,
    });
    const { users } = await list({ active: false });
    expect(users).toMatchObject([
      {
        ...aUser(userId),
        active: false,
        retailerIds: [fixture.tenant.retailerId],
        retailerGroupIds: [fixture.tenant.retailerGroupId],
      },
    ]);
    const colleague = await register({
      retailerIds: [other.retailerId],
      retailerGroupIds: [fixture.tenant.retailerGroupId],
    });
    const found = (await list()).users.find((user) => user.userId === colleague);
    expect(found).toMatchObject({
      retailerIds: [],
      retailerGroupIds: [fixture.tenant.retailerGroupId],
    });
  });

  test('of a retailer without a group are its own only', async () => {
    const retailerId = randomUUID();
    await fixture.applications.service.directory.registerRetailer(
      { retailer: { retailerId, name: 'Lone Autos' } },
      asPlatform,
    );
    expect(await list({}, retailerId)).toMatchObject({ users: [], nextCursor: '' });
    const userId = await register({
      retailerIds: [retailerId],
      retailerGroupIds: [other.retailerGroupId],
    });
    expect((await list({}, retailerId)).users).toMatchObject([
      { userId, retailerIds: [retailerId], retailerGroupIds: [] },
    ]);
  });

  test('are filtered by whether they are active', async () => {
    const inactive = await register({ retailerIds: [fixture.tenant.retailerId], active: false });
    expect(await listIds({ active: true })).toEqual([fixture.tenant.userId]);
    expect(await listIds({ active: false })).toEqual([inactive]);
  });

  test.each([1, 2, 3, 100])('in pages of %i are each on one page', async (limit) => {
    const ids: string[] = [fixture.tenant.userId];
    for (let n = 0; n < 6; n += 1) {
      ids.push(await register({ retailerIds: [fixture.tenant.retailerId], active: n % 2 === 0 }));
    }
    const found: string[] = [];
    let cursor = '';
    do {
      const page = await list({ limit, cursor });
      expect(page.users.length).toBeLessThanOrEqual(limit);
      found.push(...page.users.map(({ userId }) => userId));
      cursor = page.nextCursor;
      // A user who is renamed keeps the place in the list.
      const renamed = { ...aUser(fixture.tenant.userId), lastName: `Name ${found.length}` };
      await fixture.applications.service.directory.registerUser(
        { user: { ...renamed, retailerIds: [fixture.tenant.retailerId] } },
        asPlatform,
      );
    } while (cursor !== '');
    expect(found).toEqual(ids.toSorted());
  });

  test('are not found without a retailer in scope, or with one that does not exist', async () => {
    const notFound = {
      kind: 'not_found',
      code: 'retailer_not_found',
      message:
        'X-Service-Retailer-ID, or retailerId in the body, names no retailer that is granted to your integration.',
    };
    await expect(list({}, randomUUID())).rejects.toMatchObject(notFound);
    const identity = { ...asIntegration('').identity, retailerId: undefined };
    await expect(
      fixture.applications.service.directory.listUsers({ limit: 25 }, { identity }),
    ).rejects.toMatchObject(notFound);
  });

  test('are refused to the platform and to services', async () => {
    for (const context of [asPlatform, asGateway]) {
      await expect(
        fixture.applications.service.directory.listUsers({ limit: 25 }, context),
      ).rejects.toMatchObject({ kind: 'forbidden' });
    }
  });

  test('are not listed from a cursor of another retailer, another filter or another maker', async () => {
    await register({ retailerIds: [fixture.tenant.retailerId] });
    const { nextCursor } = await list({ limit: 1 });
    const refused = { kind: 'invalid', code: 'invalid_cursor' };
    await expect(list({ cursor: nextCursor, active: true })).rejects.toMatchObject(refused);
    await expect(list({ cursor: nextCursor }, other.retailerId)).rejects.toMatchObject(refused);
    await expect(list({ cursor: `${nextCursor}A` })).rejects.toMatchObject(refused);
  });
});

describe('retailers and creditors by their ids', () => {
  test('have their names, and unknown ids are left out', async () => {
    const { directory } = fixture.applications.service;
    const retailerIds = [fixture.tenant.retailerId.toUpperCase(), randomUUID(), other.retailerId];
    const { retailers } = await directory.getRetailers({ retailerIds }, asGateway);
    expect(retailers.toSorted((a, b) => (a.retailerId < b.retailerId ? -1 : 1))).toMatchObject(
      [fixture.tenant, other]
        .map(({ retailerId, retailerGroupId }) => ({
          retailerId,
          name: 'Harbour Motors',
          retailerGroupId,
        }))
        .toSorted((a, b) => (a.retailerId < b.retailerId ? -1 : 1)),
    );
    const creditorIds = [randomUUID(), fixture.tenant.creditorId];
    const { creditors } = await directory.getCreditors({ creditorIds }, asGateway);
    expect(creditors).toMatchObject([{ creditorId: fixture.tenant.creditorId, name: 'Prairie' }]);
    expect(await directory.getRetailers({ retailerIds: [] }, asGateway)).toMatchObject({
      retailers: [],
    });
  });

  test('are read by the gateway only', async () => {
    const { directory } = fixture.applications.service;
    for (const context of [asPlatform, asIntegration(fixture.tenant.retailerId)]) {
      const retailerIds = [fixture.tenant.retailerId];
      const forbidden = { kind: 'forbidden' };
      await expect(directory.getRetailers({ retailerIds }, context)).rejects.toMatchObject(
        forbidden,
      );
      const creditorIds = [fixture.tenant.creditorId];
      await expect(directory.getCreditors({ creditorIds }, context)).rejects.toMatchObject(
        forbidden,
      );
    }
  });
});
