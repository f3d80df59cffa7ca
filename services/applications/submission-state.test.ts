import { randomUUID } from 'node:crypto';
import { ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import { expect, test } from 'vitest';
import {
  aSubmission,
  asConversations,
  asGateway,
  asIntegration,
  asPlatform,
  aUser,
  createTestApplication,
  registerTenant,
  useTenant,
} from './test-applications.ts';

const fixture = useTenant();

const find = (applicationId: string, creditorId: string = fixture.tenant.creditorId, userId = '') =>
  fixture.applications.service.forConversations.getSubmissionState(
    { applicationId, creditorId, userId },
    asConversations,
  );

interface Membership {
  active?: boolean;
  retailerIds?: string[];
  retailerGroupIds?: string[];
}

async function registerUser(fields: Membership): Promise<string> {
  const userId = randomUUID();
  const user = { ...aUser(userId), ...fields };
  await fixture.applications.service.directory.registerUser({ user }, asPlatform);
  return userId;
}

test('the state of an application tells its retailer, its status, and whether the creditor has it', async () => {
  const { retailerId, creditorId } = fixture.tenant;
  const application = await createTestApplication(fixture.applications, retailerId);
  const { applicationId } = application;
  const saved = { retailerId, applicationStatus: ApplicationStatus.SAVED, submitted: false };
  expect(await find(applicationId)).toMatchObject(saved);

  const submission = aSubmission(application, fixture.tenant, [creditorId]);
  await fixture.applications.service.applications.submitApplication(
    submission,
    asIntegration(retailerId),
  );
  const applicationStatus = ApplicationStatus.SUBMITTED;
  const submitted = { retailerId, applicationStatus, submitted: true };
  expect(await find(applicationId.toUpperCase(), creditorId.toUpperCase())).toMatchObject(
    submitted,
  );
  expect(await find(applicationId, randomUUID())).toMatchObject({ ...submitted, submitted: false });
});

test('an application that does not exist has no state', async () => {
  const state = await find(randomUUID());
  expect(state).toMatchObject({ retailerId: '', submitted: false });
  expect(state.user).toBeUndefined();
});

test('a user is named only if active and of the retailer or its group', async () => {
  const { retailerId, retailerGroupId, userId } = fixture.tenant;
  const { applicationId } = await createTestApplication(fixture.applications, retailerId);
  const other = await registerTenant(fixture.applications);
  const userOf = async (id: string) =>
    (await find(applicationId, fixture.tenant.creditorId, id)).user;
  const noor = { firstName: 'Noor', lastName: 'Singh' };
  expect(await userOf(userId.toUpperCase())).toMatchObject(noor);
  const ofGroup = await registerUser({ retailerGroupIds: [retailerGroupId] });
  expect(await userOf(ofGroup)).toMatchObject(noor);

  const { retailerGroupId: otherGroupId } = other;
  const ineligible = [
    await registerUser({ retailerIds: [retailerId], active: false }),
    await registerUser({ retailerGroupIds: [otherGroupId] }),
    await registerUser({}),
    other.userId,
    randomUUID(),
    '',
  ];
  for (const id of ineligible) expect(await userOf(id)).toBeUndefined();
});

test('only the conversations service may ask', async () => {
  const request = { applicationId: randomUUID(), creditorId: randomUUID() };
  for (const caller of [asGateway, asIntegration(fixture.tenant.retailerId), asPlatform]) {
    const call = fixture.applications.service.applications.getSubmissionState(request, caller);
    await expect(call).rejects.toMatchObject({ kind: 'forbidden' });
  }
});
