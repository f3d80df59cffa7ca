import { randomUUID } from 'node:crypto';
import {
  ApplicationStatus,
  ApplicationType,
  Relationship,
} from '@creditlane/proto/applications/v1/application';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  anApplicant,
  anApplication,
  asGateway,
  asGranter,
  asIntegration,
  createTestApplication,
  registerTenant,
  startTestApplications,
  type Tenant,
  type TestApplications,
} from './test-applications.ts';

let fixture: TestApplications;
let tenant: Tenant;
beforeAll(async () => {
  fixture = await startTestApplications();
});
afterAll(() => fixture?.close());
beforeEach(async () => {
  tenant = await registerTenant(fixture);
});

const countApplications = async () =>
  (await fixture.sql.query('SELECT count(*)::int AS rows FROM applications')).rows[0].rows;

describe('an application', () => {
  test('is read as it was created, with a masked social insurance number', async () => {
    const { retailerId } = tenant;
    const application = await createTestApplication(fixture, retailerId, {
      type: ApplicationType.PRE_APPROVAL,
      referenceNumber: 'DEAL-1',
      coApplicant: { ...anApplicant(), firstName: 'Leo', sin: '' },
      relationship: Relationship.SPOUSE,
    });
    expect(application).toMatchObject({
      retailerId,
      type: ApplicationType.PRE_APPROVAL,
      status: ApplicationStatus.SAVED,
      referenceNumber: 'DEAL-1',
      relationship: Relationship.SPOUSE,
      primaryApplicant: {
        firstName: 'Maya',
        sin: '***-***-286',
        addressHistory: [{ streetName: 'Sherbrooke', province: 'QC' }],
        employmentHistory: [{ employerName: 'Northern Lights Bakery' }],
      },
      coApplicant: { firstName: 'Leo', sin: '' },
      submissions: [],
    });
    const { applicationId } = application;
    const { applications } = fixture.service;
    const read = await applications.getApplication({ applicationId }, asIntegration(retailerId));
    expect(read.application).toEqual(application);
    expect(await applications.locateApplication({ applicationId }, asGateway)).toMatchObject({
      retailerId,
    });
  });

  test('of another retailer is refused like an application that does not exist', async () => {
    const { applicationId } = await createTestApplication(fixture, tenant.retailerId);
    const otherTenant = await registerTenant(fixture);
    const get = (id: string, retailerId: string) =>
      fixture.service.applications
        .getApplication({ applicationId: id }, asIntegration(retailerId))
        .then(String, ({ kind, code, message }) => ({ kind, code, message }));
    const foreign = await get(applicationId, otherTenant.retailerId);
    expect(foreign).toMatchObject({ kind: 'not_found', code: 'application_not_found' });
    expect(foreign).toEqual(await get(randomUUID(), otherTenant.retailerId));
    const withoutScope = { ...asIntegration('').identity, retailerId: undefined };
    await expect(
      fixture.service.applications.getApplication({ applicationId }, { identity: withoutScope }),
    ).rejects.toMatchObject(foreign as object);
  });

  test('that does not exist belongs to no retailer', async () => {
    const request = { applicationId: randomUUID() };
    const { retailerId } = await fixture.service.applications.locateApplication(request, asGateway);
    expect(retailerId).toBe('');
  });

  test('is in the context of its retailer and the retailers of its group, and of no others', async () => {
    const { retailerId, retailerGroupId } = tenant;
    const { applicationId } = await createTestApplication(fixture, retailerId);
    const otherTenant = await registerTenant(fixture);
    const ungrouped = await createTestApplication(fixture, await registerRetailer(''));
    const sibling = await registerRetailer(retailerGroupId);
    const inContext = async (id: string, contextRetailerId: string) => {
      const request = { applicationId: id, contextRetailerId };
      return (await fixture.service.applications.locateApplication(request, asGateway)).inContext;
    };
    for (const context of [retailerId, retailerId.toUpperCase(), sibling]) {
      expect(await inContext(applicationId, context)).toBe(true);
    }
    for (const context of [otherTenant.retailerId, await registerRetailer(''), randomUUID(), '']) {
      expect(await inContext(applicationId, context)).toBe(false);
      // Two retailers without a group are not of the same group.
      expect(await inContext(ungrouped.applicationId, context)).toBe(false);
    }
    expect(await inContext(ungrouped.applicationId, ungrouped.retailerId)).toBe(true);
    expect(await inContext(randomUUID(), retailerId)).toBe(false);
  });

  test('for a retailer outside the call’s scope, or one that does not exist, is refused', async () => {
    const { applications } = fixture.service;
    const otherTenant = await registerTenant(fixture);
    const foreign = anApplication(otherTenant.retailerId);
    await expect(
      applications.createApplication(foreign, asIntegration(tenant.retailerId)),
    ).rejects.toMatchObject({ kind: 'not_found', code: 'retailer_not_found' });
    const unknown = randomUUID();
    await expect(
      applications.createApplication(anApplication(unknown), asIntegration(unknown)),
    ).rejects.toMatchObject({ kind: 'not_found', code: 'retailer_not_found' });
  });
});

describe('a reference number', () => {
  test('used twice by one retailer is refused with the id of its application', async () => {
    const { retailerId } = tenant;
    const { applicationId } = await createTestApplication(fixture, retailerId, {
      referenceNumber: 'R-1',
    });
    const again = createTestApplication(fixture, retailerId, { referenceNumber: 'R-1' });
    await expect(again).rejects.toMatchObject({
      kind: 'conflict',
      code: 'reference_number_taken',
      message: expect.stringContaining(applicationId),
    });
    const otherTenant = await registerTenant(fixture);
    await expect(
      createTestApplication(fixture, otherTenant.retailerId, { referenceNumber: 'R-1' }),
    ).resolves.toBeDefined();
  });

  test('used by several requests at once is accepted once', async () => {
    const calls = [1, 2, 3, 4].map(() =>
      createTestApplication(fixture, tenant.retailerId, { referenceNumber: 'R-2' }),
    );
    const results = await Promise.allSettled(calls);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('may be absent from any number of applications', async () => {
    await createTestApplication(fixture, tenant.retailerId);
    await expect(createTestApplication(fixture, tenant.retailerId)).resolves.toBeDefined();
  });
});

describe('with an idempotency key,', () => {
  const create = async (key: string, request: { referenceNumber?: string; sin?: string } = {}) => {
    const { referenceNumber = '', sin = '' } = request;
    let replayed = false;
    const { application } = await fixture.service.applications.createApplication(
      {
        ...anApplication(tenant.retailerId),
        referenceNumber,
        primaryApplicant: { ...anApplicant(), sin },
      },
      {
        ...asIntegration(tenant.retailerId, key),
        onReplayed() {
          replayed = true;
        },
      },
    );
    return { application, replayed };
  };

  test('a repeated request has one effect and one answer', async () => {
    const key = randomUUID();
    const first = await create(key, { referenceNumber: 'I-1' });
    const before = await countApplications();
    const again = await create(key, { referenceNumber: 'I-1' });
    expect(again).toEqual({ application: first.application, replayed: true });
    expect(await countApplications()).toBe(before);
  });

  test('duplicate requests at once with a reference number have one effect and one answer', async () => {
    const before = await countApplications();
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => create(key, { referenceNumber: 'I-2' })),
    );
    expect(await countApplications()).toBe(before + 1);
    expect(new Set(answers.map(({ application }) => application?.applicationId)).size).toBe(1);
    expect(answers.filter(({ replayed }) => replayed)).toHaveLength(5);
  });

  test('a different request with the same key is refused', async () => {
    const key = randomUUID();
    await create(key, { sin: '046-454-286' });
    await expect(create(key, { sin: '130692544' })).rejects.toMatchObject({
      kind: 'invalid',
      code: 'idempotency_key_reused',
    });
  });

  test('a key whose request was refused can be used again', async () => {
    const key = randomUUID();
    await createTestApplication(fixture, tenant.retailerId, { referenceNumber: 'I-3' });
    await expect(create(key, { referenceNumber: 'I-3' })).rejects.toMatchObject({
      kind: 'conflict',
    });
    expect((await create(key, { referenceNumber: 'I-4' })).replayed).toBe(false);
  });
});

/** Registers a retailer of the group, or of none; resolves to its id. */
async function registerRetailer(retailerGroupId: string): Promise<string> {
  const retailerId = randomUUID();
  const retailer = { retailerId, name: 'Harbour Trucks', retailerGroupId };
  await fixture.service.directory.registerRetailer({ retailer }, asGranter);
  return retailerId;
}
