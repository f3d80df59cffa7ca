import { randomUUID } from 'node:crypto';
import { serviceIdentity } from '@creditlane/rpc/identity';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
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
