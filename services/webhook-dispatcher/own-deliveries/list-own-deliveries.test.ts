import { randomUUID } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertDeliveries, type TestDelivery } from '../test-deliveries.ts';
import { createTestFixture, type TestFixture } from '../test-fixture.ts';
import { deliveriesClient, ownerOf } from './test-owner.ts';

const OWN = randomUUID();
const OTHER = randomUUID();
const APPLICATION = randomUUID();
const RETAILER = randomUUID();
/** Minute 0; delivery n of a test was created n minutes later. */
const START = new Date('2026-03-02T00:00:00Z');
const minute = (n: number) => new Date(START.getTime() + n * 60_000);

let fixture: TestFixture;
let list: (filter?: object) => Promise<{ minutes: number[]; nextCursor: string }>;
let owned: ReturnType<typeof deliveriesClient>;

const STORED: readonly TestDelivery[] = [
  {},
  { state: 'dead' },
  { orderingKey: APPLICATION },
  { destinationId: OTHER, orderingKey: APPLICATION },
  { state: 'due', event: 'applicationDeclined' },
  { state: 'waiting' },
  { orderingKey: RETAILER, event: 'integrationEnabled' },
  { event: 'fromANewerVersion' },
  { orderingKey: APPLICATION, state: 'dead', event: 'applicationDeclined' },
];

beforeAll(async () => {
  fixture = await createTestFixture();
  fixture.integrations.destinations.set(OWN, { url: '', secrets: [], revision: 1 });
  fixture.integrations.destinations.set(OTHER, { url: '', secrets: [], revision: 1 });
  owned = deliveriesClient(await fixture.start());
  // The dispatcher is to leave them as they are.
  const nextAttemptAt = new Date(Date.now() + 86_400_000);
  const stored = { destinationId: OWN, state: 'delivered', nextAttemptAt } as const;
  await insertDeliveries(
    fixture.sql,
    STORED.map((delivery, n) => ({ ...stored, createdAt: minute(n), ...delivery })),
  );
  list = async (filter = {}) => {
    const page = await owned.listOwnDeliveries(
      { limit: 100, ...filter },
      ownerOf({ destinationId: OWN }),
    );
    const minutes = page.deliveries.map(
      ({ createdAt }) => (Number(createdAt?.seconds) * 1_000 - START.getTime()) / 60_000,
    );
    return { minutes, nextCursor: page.nextCursor };
  };
});
afterAll(() => fixture.close());

describe('the list of own deliveries', () => {
  test.each<[string, object, number[]]>([
    ['without a filter', {}, [8, 7, 6, 5, 4, 2, 1, 0]],
    ['by state', { state: DeliveryState.DEAD }, [8, 1]],
    ['by event', { event: 'applicationDeclined' }, [8, 4]],
    ['by event and state', { event: 'applicationDeclined', state: DeliveryState.DUE }, [4]],
    ['by application', { applicationId: APPLICATION.toUpperCase() }, [8, 2]],
    ['by application and state', { applicationId: APPLICATION, state: DeliveryState.DEAD }, [8]],
    ['by an unknown application', { applicationId: randomUUID() }, []],
    ['by the id of a retailer as application', { applicationId: RETAILER }, []],
    ['by application and event', { applicationId: APPLICATION, event: 'applicationDeclined' }, [8]],
    [
      'by an event of retailers and the id of a retailer as application',
      { applicationId: RETAILER, event: 'integrationEnabled' },
      [],
    ],
    [
      'by time',
      { createdFrom: timestampFromDate(minute(2)), createdBefore: timestampFromDate(minute(5)) },
      [4, 2],
    ],
    ['by a time before 1970', { createdBefore: timestampFromDate(new Date(-1)) }, []],
    ['by a time in the year 0', { createdBefore: { seconds: -62_167_219_200n } }, []],
    ['by a time in the year 10000', { createdFrom: { seconds: 253_402_300_800n } }, []],
  ])('%s has the deliveries of the own destination, newest first', async (_, filter, minutes) => {
    expect(await list(filter)).toEqual({ minutes, nextCursor: '' });
  });

  test.each<[string, object, number[]]>([
    ['of all', {}, [8, 7, 6, 5, 4, 2, 1, 0]],
    ['of an event', { event: 'applicationBooked' }, [5, 2, 1, 0]],
    ['of an application', { applicationId: APPLICATION }, [8, 2]],
  ])('%s is complete page by page', async (_, filter, minutes) => {
    for (const limit of [1, 2, 3]) {
      const seen: number[] = [];
      let cursor = '';
      do {
        const page = await list({ ...filter, limit, cursor });
        expect(page.minutes.length).toBeLessThanOrEqual(limit);
        seen.push(...page.minutes);
        cursor = page.nextCursor;
      } while (cursor !== '');
      expect(seen).toEqual(minutes);
    }
  });

  test.each([
    ['reversed', 5, 2],
    ['without a time in it', 2, 2],
  ])('refuses a range of times that is %s', async (_, from, before) => {
    const range = {
      createdFrom: timestampFromDate(minute(from)),
      createdBefore: timestampFromDate(minute(before)),
    };
    await expect(list(range)).rejects.toMatchObject({
      code: 'invalid_range',
      fields: [{ pointer: '/createdBefore', message: 'must be later than createdFrom' }],
    });
  });

  test('refuses the cursor of another filter', async () => {
    const { nextCursor: cursor } = await list({ limit: 1 });
    for (const filter of [{ state: DeliveryState.DEAD }, { event: 'applicationBooked' }]) {
      await expect(list({ ...filter, cursor })).rejects.toMatchObject({ code: 'invalid_cursor' });
    }
  });

  test('is empty for an integration without a destination', async () => {
    const stranger = ownerOf({ destinationId: randomUUID() });
    const page = await owned.listOwnDeliveries({ limit: 10 }, stranger);
    expect(page).toMatchObject({ deliveries: [], nextCursor: '' });
  });

  test('names the record that the ordering key of the event is the id of', async () => {
    const { deliveries } = await owned.listOwnDeliveries(
      { limit: 100 },
      ownerOf({ destinationId: OWN }),
    );
    const of = (event: string) => deliveries.find((delivery) => delivery.event === event);
    expect(of('applicationDeclined')).toMatchObject({
      applicationId: APPLICATION,
      creditorId: expect.stringMatching(/-/),
      retailerId: '',
    });
    const none = { applicationId: '', creditorId: '' };
    expect(of('integrationEnabled')).toMatchObject({ ...none, retailerId: RETAILER });
    expect(of('fromANewerVersion')).toMatchObject({ ...none, retailerId: '' });
  });

  test('has the next attempt of due deliveries only', async () => {
    const { deliveries } = await owned.listOwnDeliveries(
      { limit: 100 },
      ownerOf({ destinationId: OWN }),
    );
    for (const { state, nextAttemptAt } of deliveries) {
      expect(nextAttemptAt !== undefined).toBe(state === DeliveryState.DUE);
    }
  });
});
