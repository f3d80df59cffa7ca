// Attempts after the integration has lost its grants.
import { randomUUID } from 'node:crypto';
import type { EventMessage } from '@creditlane/events/message';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { retailerEnabled } from '../events/test-enablements.ts';
import { exported } from '../events/test-exports.ts';
import { deliveriesClient, ownDeliveries, ownerOf } from '../own-deliveries/test-owner.ts';
import { insertDeliveries, insertDelivery } from '../test-deliveries.ts';
import { createTestFixture, type Receiver, type TestFixture, until } from '../test-fixture.ts';
import { answer } from '../test-receiver.ts';

const SECOND_MS = 1_000;

let receiver: Receiver;
let fixture: TestFixture;
afterEach(() => fixture.close());
beforeEach(async () => {
  fixture = await createTestFixture();
  receiver = await fixture.addReceiver();
});

const withdraw = () => fixture.integrations.state.withoutGrants.add(receiver.destinationId);
const stored = async (): Promise<object[]> =>
  (await fixture.sql.query('SELECT state, reason, attempts FROM deliveries')).rows;
const agedSeconds = (seconds: number) => new Date(Date.now() - seconds * SECOND_MS);

/** Has the first attempt at the event fail and the intake be so many seconds ago; resolves to what begins the next attempt. */
async function failOnce(event: EventMessage, secondsAgo: number) {
  receiver.respondWith(answer(500));
  const dispatcher = await fixture.start({ RETRY_DELAYS: '1h' });
  await dispatcher.bus.publish([event]);
  await until(async () => expect(await stored()).toMatchObject([{ state: 'due', attempts: 1 }]));
  receiver.respondWith(answer(204));
  await fixture.sql.query('UPDATE deliveries SET created_at = $1', [agedSeconds(secondsAgo)]);
  const [delivery] = await ownDeliveries(dispatcher, receiver);
  const deliveryId = delivery?.deliveryId ?? expect.unreachable();
  return () => deliveriesClient(dispatcher).replayDelivery({ deliveryId }, ownerOf(receiver));
}

describe.each([
  ['a decision', () => fixture.event()],
  ['an export', () => exported(fixture, { integrationId: receiver.destinationId })],
  ['an enabling', () => retailerEnabled(fixture, { integrationId: receiver.destinationId })],
])('%s', (_, makeEvent) => {
  test('whose grant was withdrawn ends at its next attempt later than five seconds after the intake', async () => {
    const tryAgain = await failOnce(makeEvent(), 6);
    withdraw();
    await until(tryAgain);
    const ended = { state: 'dead', reason: 'grant_missing', attempts: 2 };
    await until(async () => expect(await stored()).toEqual([ended]));
    expect(receiver.received).toHaveLength(1);
  });

  test('is sent by a later attempt while there is a grant', async () => {
    const tryAgain = await failOnce(makeEvent(), 6);
    await until(tryAgain);
    await until(async () => expect(await stored()).toMatchObject([{ state: 'delivered' }]));
    expect(receiver.received).toHaveLength(2);
  });
});

test('an attempt within five seconds of the intake does not ask for the grant', async () => {
  const tryAgain = await failOnce(fixture.event(), -3_600);
  const { findRecipientsCalls } = fixture.integrations.state;
  withdraw();
  await until(tryAgain);
  await until(async () => expect(await stored()).toMatchObject([{ state: 'delivered' }]));
  expect(fixture.integrations.state.findRecipientsCalls).toBe(findRecipientsCalls);
});

test('a delivery that waited in its lane for longer than five seconds ends when its turn comes', async () => {
  const lane = { destinationId: receiver.destinationId, orderingKey: randomUUID() };
  const createdAt = agedSeconds(6);
  await insertDeliveries(fixture.sql, [
    { ...lane, createdAt },
    { ...lane, createdAt, sequence: 2, state: 'waiting' },
  ]);
  withdraw();
  const dispatcher = await fixture.start();
  await dispatcher.settled();
  const ended = { state: 'dead', reason: 'grant_missing', attempts: 1 };
  expect([receiver.received, await stored()]).toEqual([[], [ended, ended]]);
});

test('while the grant cannot be looked up, the delivery stays due, and is sent when it is found', async () => {
  const { state } = fixture.integrations;
  state.maxPairs = 0;
  await insertDelivery(fixture.sql, {
    destinationId: receiver.destinationId,
    createdAt: agedSeconds(6),
  });
  await fixture.start();
  await until(() => expect(state.refusedCalls).toBeGreaterThan(1));
  expect([receiver.received, await stored()]).toMatchObject([[], [{ state: 'due', attempts: 0 }]]);
  state.maxPairs = 250;
  await until(() => expect(receiver.received).toHaveLength(1));
});
