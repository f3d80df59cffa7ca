// Replays of webhooks after the integration has lost its grants.
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exported, SIN } from '../events/test-exports.ts';
import {
  createTestFixture,
  type Dispatcher,
  type Receiver,
  type TestFixture,
  until,
} from '../test-fixture.ts';
import { answer } from '../test-receiver.ts';
import { deliveriesClient, ownDeliveries, ownerOf } from './test-owner.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

let receiver: Receiver;
let dispatcher: Dispatcher;
const deliveryId = async () => {
  const [delivery] = await ownDeliveries(dispatcher, receiver);
  return delivery?.deliveryId ?? expect.unreachable();
};
const replayOne = async () =>
  deliveriesClient(dispatcher).replayDelivery(
    { deliveryId: await deliveryId() },
    ownerOf(receiver),
  );
const replayAll = (state: DeliveryState) =>
  deliveriesClient(dispatcher).replayDeliveries({ filter: { state } }, ownerOf(receiver));
const withdraw = () => fixture.integrations.state.withoutGrants.add(receiver.destinationId);
const stored = async (): Promise<object[]> => {
  const { rows } = await fixture.sql.query('SELECT state, reason, replays FROM deliveries');
  return rows;
};

const anExport = () => exported(fixture, { integrationId: receiver.destinationId });
const aDecision = () => fixture.event();
const EVENTS = [
  // The body is rendered when it is sent, from what the applications service has.
  { name: 'an export', makeEvent: anExport, says: SIN },
  // The body was stored at intake.
  { name: 'a decision', makeEvent: aDecision, says: 'BOOKED' },
];

/** Sends the event to the receiver, and forgets the requests once the delivery has ended in the state. */
async function endDelivery(state: 'dead' | 'delivered', makeEvent = anExport) {
  receiver = await fixture.addReceiver();
  if (state === 'dead') receiver.respondWith(answer(500));
  dispatcher = await fixture.start({ RETRY_DELAYS: '20ms' });
  await dispatcher.bus.publish([makeEvent()]);
  await until(async () => expect(await stored()).toMatchObject([{ state }]));
  receiver.respondWith(answer(204));
  receiver.received.length = 0;
}

describe.each(EVENTS)('$name for which the integration has lost its grants', (event) => {
  const { makeEvent, says } = event;

  test.each(['dead', 'delivered'] as const)(
    'is not replayed alone when it is %s, until there is a grant again',
    async (state) => {
      await endDelivery(state, makeEvent);
      withdraw();
      await expect(replayOne()).rejects.toMatchObject({ kind: 'conflict', code: 'grant_missing' });
      await dispatcher.settled();
      expect(receiver.received).toEqual([]);
      expect(await stored()).toMatchObject([{ state, replays: 0 }]);
      fixture.integrations.state.withoutGrants.clear();
      await replayOne();
      await dispatcher.settled();
      expect(receiver.received).toMatchObject([{ body: expect.stringContaining(says) }]);
    },
  );

  test.each(['dead', 'delivered'] as const)(
    'is not sent by a replay of many that are %s, and is dead with the reason',
    async (state) => {
      await endDelivery(state, makeEvent);
      withdraw();
      await replayAll(state === 'dead' ? DeliveryState.DEAD : DeliveryState.DELIVERED);
      const withheld = { state: 'dead', reason: 'grant_missing', replays: 1 };
      await until(async () => expect(await stored()).toEqual([withheld]));
      expect(receiver.received).toEqual([]);
      fixture.integrations.state.withoutGrants.clear();
      // The first replay may not have ended.
      await until(() => replayAll(DeliveryState.DEAD));
      await until(() => expect(receiver.received).toHaveLength(1));
    },
  );
});

describe('an export for which the integration has lost its grants', () => {
  test('is not sent when the grants are withdrawn after the request for the replay', async () => {
    await endDelivery('dead');
    fixture.applications.state.isUnavailable = true;
    await replayOne();
    withdraw();
    fixture.applications.state.isUnavailable = false;
    const withheld = { state: 'dead', reason: 'grant_missing', replays: 1 };
    await until(async () => expect(await stored()).toEqual([withheld]));
    expect(receiver.received).toEqual([]);
  });

  test('can be replayed while the applications service hangs, and is not sent', async () => {
    await endDelivery('dead');
    const hanging = Promise.withResolvers<void>();
    fixture.applications.state.answering = hanging.promise;
    const context = { ...ownerOf(receiver), deadlineMs: Date.now() + 30_000 };
    await deliveriesClient(dispatcher).replayDelivery({ deliveryId: await deliveryId() }, context);
    withdraw();
    hanging.resolve();
    const withheld = { state: 'dead', reason: 'grant_missing', replays: 1 };
    await until(async () => expect(await stored()).toEqual([withheld]));
    expect(receiver.received).toEqual([]);
  });

  test('is not sent while the grants cannot be looked up, and is sent when they are found to be there', async () => {
    await endDelivery('dead');
    const { applications, integrations } = fixture;
    applications.state.isUnavailable = true;
    await replayOne();
    integrations.state.maxPairs = 0;
    applications.state.isUnavailable = false;
    await until(() => expect(integrations.state.refusedCalls).toBeGreaterThan(1));
    expect([receiver.received, await stored()]).toMatchObject([[], [{ state: 'due' }]]);
    integrations.state.maxPairs = 250;
    await until(() => expect(receiver.received).toHaveLength(1));
  });
});
