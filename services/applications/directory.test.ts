import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asIntegration, asPlatform, aUser, startWorld, type World } from './test-applications.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.close());

const stored = async (table: string, id: string) =>
  (await world.sql.query(`SELECT * FROM ${table} WHERE id = $1`, [id])).rows;

describe('the directory', () => {
  test('keeps a record as it was put last', async () => {
    const { directory } = world.service;
    const [retailerGroupId, retailerId] = [randomUUID(), randomUUID()];
    const group = { retailerGroupId, name: 'Harbour Group' };
    await directory.registerRetailerGroup({ retailerGroup: group }, asPlatform);
    await directory.registerRetailer(
      { retailer: { retailerId, name: 'Harbour', retailerGroupId } },
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

  test('takes nobody into a retailer or a group that there is not', async () => {
    const { directory } = world.service;
    const retailer = { retailerId: randomUUID(), name: 'Harbour' };
    const homeless = { ...retailer, retailerGroupId: randomUUID() };
    await expect(
      directory.registerRetailer({ retailer: homeless }, asPlatform),
    ).rejects.toMatchObject({ kind: 'invalid', fields: [{ pointer: '/retailerGroupId' }] });
    const nameless = { ...retailer, retailerGroupId: 'G-1' };
    await expect(
      directory.registerRetailer({ retailer: nameless }, asPlatform),
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

  test('takes no name that PostgreSQL cannot keep', async () => {
    const creditor = { creditorId: randomUUID(), name: 'Prairie\0' };
    await expect(
      world.service.directory.registerCreditor({ creditor }, asPlatform),
    ).rejects.toMatchObject({ kind: 'invalid', fields: [{ pointer: '/name' }] });
  });

  test('is the platform’s to keep, and only with the permission for it', async () => {
    const creditor = { creditorId: randomUUID(), name: 'Prairie' };
    const { directory } = world.service;
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
