import { randomUUID } from 'node:crypto';
import { serviceIdentity } from '@creditlane/rpc/identity';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  asGranter,
  asIntegration,
  asPlatform,
  aUser,
  startTestApplications,
  type TestApplications,
} from '../test-applications.ts';

let fixture: TestApplications;
beforeAll(async () => {
  fixture = await startTestApplications();
});
afterAll(() => fixture?.close());

const stored = async (table: string, id: string) =>
  (await fixture.sql.query(`SELECT * FROM ${table} WHERE id = $1`, [id])).rows;

describe('the directory', () => {
  test('has each record as it was registered last', async () => {
    const { directory } = fixture.service;
    const [retailerGroupId, retailerId] = [randomUUID(), randomUUID()];
    const group = { retailerGroupId, name: 'Harbour Group' };
    await directory.registerRetailerGroup({ retailerGroup: group }, asPlatform);
    const inGroup = { retailerGroupId: retailerGroupId.toUpperCase() };
    await directory.registerRetailer(
      { retailer: { retailerId, name: 'Harbour', ...inGroup } },
      asPlatform,
    );
    expect(await stored('retailers', retailerId)).toMatchObject([
      { name: 'Harbour', retailer_group_id: retailerGroupId },
    ]);
    const renamed = { retailerId, name: 'Harbour Motors' };
    await directory.registerRetailer({ retailer: renamed }, asPlatform);
    expect(await stored('retailers', retailerId)).toMatchObject([
      { name: 'Harbour Motors', retailer_group_id: null },
    ]);

    const user = { ...aUser(randomUUID()), retailerIds: [retailerId.toUpperCase()] };
    await directory.registerUser({ user }, asPlatform);
    const moved = { ...aUser(user.userId), active: false, retailerGroupIds: [retailerGroupId] };
    await directory.registerUser({ user: moved }, asPlatform);
    expect(await stored('users', user.userId)).toMatchObject([
      { active: false, retailer_ids: [], retailer_group_ids: [retailerGroupId] },
    ]);
  });

  test('tells the integrations service the retailers that it asks for, and leaves out unknown ids', async () => {
    const { directory, forIntegrations } = fixture.service;
    const [retailerGroupId, retailerId, inGroupId] = [randomUUID(), randomUUID(), randomUUID()];
    const retailerGroup = { retailerGroupId, name: 'Harbour Group' };
    await directory.registerRetailerGroup({ retailerGroup }, asPlatform);
    const alone = { retailerId, name: 'Harbour', retailerGroupId: '' };
    const inGroup = { retailerId: inGroupId, name: 'Harbour Trucks', retailerGroupId };
    await directory.registerRetailer({ retailer: alone }, asPlatform);
    await directory.registerRetailer({ retailer: inGroup }, asPlatform);
    const retailerIds = [retailerId.toUpperCase(), inGroupId, randomUUID()];
    const asService = { identity: serviceIdentity('integrations') };
    const { retailers } = await forIntegrations.getRetailers({ retailerIds }, asService);
    const byName = retailers.toSorted((a, b) => a.name.localeCompare(b.name));
    expect(byName).toMatchObject([alone, inGroup]);
    await expect(directory.getRetailers({ retailerIds }, asPlatform)).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });

  test('refuses a record that names an unknown retailer or group', async () => {
    const { directory } = fixture.service;
    const retailer = { retailerId: randomUUID(), name: 'Harbour' };
    const inUnknownGroup = { ...retailer, retailerGroupId: randomUUID() };
    await expect(
      directory.registerRetailer({ retailer: inUnknownGroup }, asPlatform),
    ).rejects.toMatchObject({ kind: 'invalid', fields: [{ pointer: '/retailerGroupId' }] });
    const inInvalidGroup = { ...retailer, retailerGroupId: 'G-1' };
    await expect(
      directory.registerRetailer({ retailer: inInvalidGroup }, asPlatform),
    ).rejects.toMatchObject({ kind: 'invalid', fields: [{ pointer: '/retailerGroupId' }] });
    await directory.registerRetailer({ retailer }, asPlatform);
    const user = {
      ...aUser(randomUUID()),
      retailerIds: [retailer.retailerId, randomUUID()],
      retailerGroupIds: [randomUUID()],
    };
    await expect(directory.registerUser({ user }, asPlatform)).rejects.toMatchObject({
      fields: [{ pointer: '/retailerIds/1' }, { pointer: '/retailerGroupIds/0' }],
    });
    expect(await stored('users', user.userId)).toEqual([]);
  });

  test('takes a user with one name, and refuses one without', async () => {
    const { directory } = fixture.service;
    const user = { ...aUser(randomUUID()), firstName: '' };
    await directory.registerUser({ user }, asPlatform);
    expect(await stored('users', user.userId)).toMatchObject([{ first_name: '' }]);
    const nameless = { ...user, lastName: '' };
    await expect(directory.registerUser({ user: nameless }, asPlatform)).rejects.toMatchObject({
      fields: [{ pointer: '/lastName' }],
    });
  });

  describe('of a retailer that joins others in a group', () => {
    const refusal = { kind: 'forbidden', code: 'permission_missing' };
    const join = (retailerId: string, retailerGroupId: string, as = asPlatform) =>
      fixture.service.directory.registerRetailer(
        { retailer: { retailerId, name: 'Harbour', retailerGroupId } },
        as,
      );
    const newGroup = async () => {
      const retailerGroupId = randomUUID();
      const retailerGroup = { retailerGroupId, name: 'Harbour Group' };
      await fixture.service.directory.registerRetailerGroup({ retailerGroup }, asPlatform);
      return retailerGroupId;
    };

    test('needs the permission for grants, too', async () => {
      const [group, first, second] = [await newGroup(), randomUUID(), randomUUID()];
      await join(first, group);
      await join(first, group);
      await expect(join(second, group)).rejects.toMatchObject(refusal);
      expect(await stored('retailers', second)).toEqual([]);
      await join(second, group, asGranter);
      // It stays where it is, and leaves the group.
      await join(second, group);
      await join(second, '');
      await expect(join(second, group)).rejects.toMatchObject(refusal);
      await join(second, await newGroup());
    });

    test('at the same moment as another one is refused for all but one', async () => {
      const group = await newGroup();
      const joined = await Promise.allSettled(
        Array.from({ length: 5 }, () => join(randomUUID(), group)),
      );
      const outcomes = joined.map(({ status }) => status).sort();
      expect(outcomes).toEqual(['fulfilled', ...Array(4).fill('rejected')]);
    });
  });

  test('records each registration with who made it', async () => {
    const { directory, acts } = fixture.service;
    const [retailerGroupId, retailerId, creditorId] = [randomUUID(), randomUUID(), randomUUID()];
    const user = { ...aUser(randomUUID()), retailerIds: [retailerId] };
    const as = { ...asPlatform, requestId: 'r-1' };
    await directory.registerRetailerGroup({ retailerGroup: { retailerGroupId, name: 'G' } }, as);
    const retailer = { retailerId, name: 'Harbour', retailerGroupId };
    await directory.registerRetailer({ retailer }, as);
    await directory.registerCreditor({ creditor: { creditorId, name: 'Prairie' } }, as);
    await directory.registerUser({ user }, as);
    const { identity } = asPlatform;
    const asAuditor = { identity: { ...identity, permissions: ['READ_AUDIT'] } };
    const listed = await acts.listPlatformActs({ limit: 4 }, asAuditor);
    const by = { actor: 'platform', requestId: 'r-1' };
    expect(listed.acts.toReversed()).toMatchObject([
      { ...by, action: 'RETAILER_GROUP_REGISTERED', retailerGroupId },
      { ...by, action: 'RETAILER_REGISTERED', retailerId, retailerGroupId },
      { ...by, action: 'CREDITOR_REGISTERED', creditorId },
      { ...by, action: 'USER_REGISTERED', userId: user.userId },
    ]);
  });

  test('refuses a name that PostgreSQL cannot store', async () => {
    const creditor = { creditorId: randomUUID(), name: 'Prairie\0' };
    await expect(
      fixture.service.directory.registerCreditor({ creditor }, asPlatform),
    ).rejects.toMatchObject({ kind: 'invalid', fields: [{ pointer: '/name' }] });
  });

  test('refuses every caller but the platform with the permission MANAGE_DIRECTORY', async () => {
    const creditor = { creditorId: randomUUID(), name: 'Prairie' };
    const { directory } = fixture.service;
    const asRetailer = asIntegration(randomUUID());
    await expect(directory.registerCreditor({ creditor }, asRetailer)).rejects.toMatchObject({
      kind: 'forbidden',
    });
    const identity = { ...asPlatform.identity, permissions: ['MANAGE_INTEGRATIONS'] };
    await expect(directory.registerCreditor({ creditor }, { identity })).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });
});
