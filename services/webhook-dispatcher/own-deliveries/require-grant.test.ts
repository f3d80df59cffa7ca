// Replays of webhooks whose body is rendered when it is sent, after the integration has lost its grants.
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

describe('an export of which the integration has lost its grants', () => {
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

  /** Exports to the receiver, and forgets the requests once the delivery has ended in the state. */
  async function endExport(state: 'dead' | 'delivered') {
    receiver = await fixture.addReceiver();
    if (state === 'dead') receiver.respondWith(answer(500));
    dispatcher = await fixture.start({ RETRY_DELAYS: '20ms' });
    await dispatcher.bus.publish([exported(fixture, receiver.destinationId)]);
    await until(async () => expect(await stored()).toMatchObject([{ state }]));
    receiver.respondWith(answer(204));
    receiver.received.length = 0;
  }

  test.each(['dead', 'delivered'] as const)(
    'is not replayed alone when it is %s, until there is a grant again',
    async (state) => {
      await endExport(state);
      withdraw();
      await expect(replayOne()).rejects.toMatchObject({ kind: 'conflict', code: 'grant_missing' });
      await dispatcher.settled();
      expect(receiver.received).toEqual([]);
      expect(await stored()).toMatchObject([{ state, replays: 0 }]);
      fixture.integrations.state.withoutGrants.clear();
      await replayOne();
      await dispatcher.settled();
      expect(receiver.received).toMatchObject([{ body: expect.stringContaining(SIN) }]);
    },
  );

  test.each(['dead', 'delivered'] as const)(
    'is not sent by a replay of many that are %s, and is dead with the reason',
    async (state) => {
      await endExport(state);
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

  test('is not sent when the grants are withdrawn after the request for the replay', async () => {
    await endExport('dead');
    fixture.applications.state.isUnavailable = true;
    await replayOne();
    withdraw();
    fixture.applications.state.isUnavailable = false;
    const withheld = { state: 'dead', reason: 'grant_missing', replays: 1 };
    await until(async () => expect(await stored()).toEqual([withheld]));
    expect(receiver.received).toEqual([]);
  });

  test('can be replayed while the applications service hangs, and is not sent', async () => {
    await endExport('dead');
    const hanging = Promise.withResolvers<void>();
    fixture.applications.state.answering = hanging.promise;
    const context = { ...ownerOf(receiver), deadlineMs: Date.now() + 5_000 };
    await deliveriesClient(dispatcher).replayDelivery({ deliveryId: await deliveryId() }, context);
    withdraw();
    hanging.resolve();
    const withheld = { state: 'dead', reason: 'grant_missing', replays: 1 };
    await until(async () => expect(await stored()).toEqual([withheld]));
    expect(receiver.received).toEqual([]);
  });

  test('is not sent while the grants cannot be looked up, and is sent when they are found to be there', async () => {
    await endExport('dead');
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

  test('is sent when the grants are withdrawn before its first series of attempts has ended', async () => {
    receiver = await fixture.addReceiver();
    receiver.respondWith(answer(500));
    dispatcher = await fixture.start({ RETRY_DELAYS: '1h' });
    await dispatcher.bus.publish([exported(fixture, receiver.destinationId)]);
    await until(async () => expect(receiver.received).toHaveLength(1));
    withdraw();
    receiver.respondWith(answer(204));
    const { findRecipientsCalls } = fixture.integrations.state;
    await until(replayOne);
    await until(() => expect(receiver.received).toHaveLength(2));
    await dispatcher.settled();
    expect(fixture.integrations.state.findRecipientsCalls).toBe(findRecipientsCalls);
  });
});
