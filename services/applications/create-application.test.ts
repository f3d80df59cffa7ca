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
  asIntegration,
  asPlatform,
  created,
  type Directory,
  furnish,
  startWorld,
  type World,
} from './test-applications.ts';

let world: World;
let directory: Directory;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.close());
beforeEach(async () => {
  directory = await furnish(world);
});

const count = async () =>
  (await world.sql.query('SELECT count(*)::int AS rows FROM applications')).rows[0].rows;

describe('an application', () => {
  test('is kept as it was given, but for the number, of which three digits are shown', async () => {
    const { retailerId } = directory;
    const application = await created(world, retailerId, {
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
    const { applications } = world.service;
    const read = await applications.getApplication({ applicationId }, asIntegration(retailerId));
    expect(read.application).toEqual(application);
    expect(await applications.locateApplication({ applicationId }, asGateway)).toMatchObject({
      retailerId,
    });
  });

  test('of another retailer looks exactly like one that does not exist', async () => {
    const { applicationId } = await created(world, directory.retailerId);
    const other = await furnish(world);
    const get = (id: string, retailerId: string) =>
      world.service.applications
        .getApplication({ applicationId: id }, asIntegration(retailerId))
        .then(String, ({ kind, code, message }) => ({ kind, code, message }));
    const foreign = await get(applicationId, other.retailerId);
    expect(foreign).toMatchObject({ kind: 'not_found', code: 'application_not_found' });
    expect(foreign).toEqual(await get(randomUUID(), other.retailerId));
    const withoutScope = { ...asIntegration('').identity, retailerId: undefined };
    await expect(
      world.service.applications.getApplication({ applicationId }, { identity: withoutScope }),
    ).rejects.toMatchObject(foreign as object);
  });

  test('that nobody made belongs to no retailer', async () => {
    const request = { applicationId: randomUUID() };
    const { retailerId } = await world.service.applications.locateApplication(request, asGateway);
    expect(retailerId).toBe('');
  });

  test('is within reach of the retailers of its group, and of no others', async () => {
    const { retailerId, retailerGroupId } = directory;
    const { applicationId } = await created(world, retailerId);
    const stranger = await furnish(world);
    const ungrouped = await created(world, await aRetailer(''));
    const sibling = await aRetailer(retailerGroupId);
    const inContext = async (id: string, contextRetailerId: string) => {
      const asked = { applicationId: id, contextRetailerId };
      return (await world.service.applications.locateApplication(asked, asGateway)).inContext;
    };
    for (const context of [retailerId, retailerId.toUpperCase(), sibling]) {
      expect(await inContext(applicationId, context)).toBe(true);
    }
    for (const context of [stranger.retailerId, await aRetailer(''), randomUUID(), '']) {
      expect(await inContext(applicationId, context)).toBe(false);
      // To belong to no group is nothing in common.
      expect(await inContext(ungrouped.applicationId, context)).toBe(false);
    }
    expect(await inContext(ungrouped.applicationId, ungrouped.retailerId)).toBe(true);
    expect(await inContext(randomUUID(), retailerId)).toBe(false);
  });

  test('is made for the retailer of the call only, and for one that exists', async () => {
    const { applications } = world.service;
    const other = await furnish(world);
    const foreign = anApplication(other.retailerId);
    await expect(
      applications.createApplication(foreign, asIntegration(directory.retailerId)),
    ).rejects.toMatchObject({ kind: 'not_found', code: 'retailer_not_found' });
    const nobody = randomUUID();
    await expect(
      applications.createApplication(anApplication(nobody), asIntegration(nobody)),
    ).rejects.toMatchObject({ kind: 'not_found', code: 'retailer_not_found' });
  });
});

describe('a reference number', () => {
  test('is taken once per retailer, and the refusal names who has it', async () => {
    const { retailerId } = directory;
    const { applicationId } = await created(world, retailerId, { referenceNumber: 'R-1' });
    const again = created(world, retailerId, { referenceNumber: 'R-1' });
    await expect(again).rejects.toMatchObject({
      kind: 'conflict',
      code: 'reference_number_taken',
      message: expect.stringContaining(applicationId),
    });
    const other = await furnish(world);
    await expect(
      created(world, other.retailerId, { referenceNumber: 'R-1' }),
    ).resolves.toBeDefined();
  });

  test('goes to one of several who ask for it at once', async () => {
    const calls = [1, 2, 3, 4].map(() =>
      created(world, directory.retailerId, { referenceNumber: 'R-2' }),
    );
    const results = await Promise.allSettled(calls);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('may be missing as often as one likes', async () => {
    await created(world, directory.retailerId);
    await expect(created(world, directory.retailerId)).resolves.toBeDefined();
  });
});

describe('with an idempotency key', () => {
  const create = async (key: string, request: { referenceNumber?: string; sin?: string } = {}) => {
    const { referenceNumber = '', sin = '' } = request;
    let replayed = false;
    const { application } = await world.service.applications.createApplication(
      {
        ...anApplication(directory.retailerId),
        referenceNumber,
        primaryApplicant: { ...anApplicant(), sin },
      },
      {
        ...asIntegration(directory.retailerId, key),
        onReplayed() {
          replayed = true;
        },
      },
    );
    return { application, replayed };
  };

  test('a repeated create has one effect and one answer', async () => {
    const key = randomUUID();
    const first = await create(key, { referenceNumber: 'I-1' });
    const before = await count();
    const again = await create(key, { referenceNumber: 'I-1' });
    expect(again).toEqual({ application: first.application, replayed: true });
    expect(await count()).toBe(before);
  });

  test('twins at once have one effect and one answer, reference number or not', async () => {
    const before = await count();
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => create(key, { referenceNumber: 'I-2' })),
    );
    expect(await count()).toBe(before + 1);
    expect(new Set(answers.map(({ application }) => application?.applicationId)).size).toBe(1);
    expect(answers.filter(({ replayed }) => replayed)).toHaveLength(5);
  });

  test('another request under the key is refused, were it by one digit', async () => {
    const key = randomUUID();
    await create(key, { sin: '046-454-286' });
    await expect(create(key, { sin: '130692544' })).rejects.toMatchObject({
      kind: 'invalid',
      code: 'idempotency_key_reused',
    });
  });

  test('a refused create does not consume the key', async () => {
    const key = randomUUID();
    await created(world, directory.retailerId, { referenceNumber: 'I-3' });
    await expect(create(key, { referenceNumber: 'I-3' })).rejects.toMatchObject({
      kind: 'conflict',
    });
    expect((await create(key, { referenceNumber: 'I-4' })).replayed).toBe(false);
  });
});

/** A retailer of the group, or of none; gives its id. */
async function aRetailer(retailerGroupId: string): Promise<string> {
  const retailerId = randomUUID();
  const retailer = { retailerId, name: 'Harbour Trucks', retailerGroupId };
  await world.service.directory.registerRetailer({ retailer }, asPlatform);
  return retailerId;
}
