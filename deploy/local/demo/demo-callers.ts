// The demo's users, and a second integration: who may comment on the demo application, and who may not.
import { randomUUID } from 'node:crypto';
import { ApiCaller } from './api-caller.ts';
import {
  type ApiAccess,
  type DemoCallers,
  type DemoRecords,
  type DemoUsers,
  FIRST_TENANT,
  makeIntegration,
  PERMISSIONS,
  SECOND_TENANT,
} from './demo.ts';

/**
 * Makes the users and the second integration, and gives the two tenants' integrations their
 * permissions. A data directory of an earlier version gains them at its next start.
 */
export async function makeDemoCallers(
  access: ApiAccess,
  records: DemoRecords,
): Promise<DemoCallers> {
  const platform = new ApiCaller(access.baseUrl, access.platformKey);
  const integrations = [
    { integrationId: records.integrationId, name: FIRST_TENANT.integration },
    { integrationId: records.otherTenant.integrationId, name: SECOND_TENANT.integration },
  ];
  for (const integration of integrations) {
    const change = { name: integration.name, permissions: PERMISSIONS };
    await platform.put(`/platform/integrations/${integration.integrationId}`, change);
  }
  const name = `${FIRST_TENANT.integration} without chat`;
  const withoutChat = await makeIntegration(platform, { name, permissions: [] }, records);
  return {
    users: await makeUsers(platform, records),
    keyWithoutChat: withoutChat.key,
  };
}

async function makeUsers(
  platform: ApiCaller,
  { retailerId, retailerUserId, otherTenant }: DemoRecords,
): Promise<DemoUsers> {
  const retailerGroupId = randomUUID();
  await platform.put(`/platform/retailer-groups/${retailerGroupId}`, {
    name: 'Harbour Auto Group',
  });
  await platform.put(`/platform/retailers/${retailerId}`, {
    name: FIRST_TENANT.retailer,
    retailerGroupId,
  });
  const register = async (firstName: string, membership: object) => {
    const userId = randomUUID();
    const email = `${firstName.toLowerCase()}@example.com`;
    const user = { firstName, lastName: 'Demo', email, ...membership };
    await platform.put(`/platform/users/${userId}`, user);
    return userId;
  };
  return {
    active: retailerUserId,
    group: await register('Grace', { retailerGroupIds: [retailerGroupId] }),
    inactive: await register('Ivan', { retailerIds: [retailerId], active: false }),
    foreign: await register('Fiona', { retailerIds: [otherTenant.retailerId] }),
  };
}
