import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestFixture, type Dispatcher, type TestFixture, until } from '../test-fixture.ts';
import { deliveriesClient, ownerOf } from './test-owner.ts';

let owned: { destinationId: string; url: string };
let fixture: TestFixture;
afterEach(() => fixture.close());
beforeEach(async () => {
  fixture = await createTestFixture();
});

const event = (sequence: number) => fixture.event({ sequence });

async function replayFirst(dispatcher: Dispatcher): Promise<void> {
  const { rows } = await fixture.sql.query('SELECT id FROM deliveries WHERE sequence = 1');
  const deliveryId = rows[0].id;
  await deliveriesClient(dispatcher).replayDelivery({ deliveryId }, ownerOf(owned));
}

async function replayMany(dispatcher: Dispatcher): Promise<void> {
  const filter = { state: DeliveryState.DELIVERED };
  await deliveriesClient(dispatcher).replayDeliveries({ filter }, ownerOf(owned));
}

async function sendTestEvent(dispatcher: Dispatcher): Promise<void> {
  const { retailerId, creditorId, applicationId } = fixture;
  const payload = { retailerId, status: 'BOOKED', creditorId, applicationId };
  const test = { event: 'applicationBooked', payload: JSON.stringify(payload) };
  await deliveriesClient(dispatcher).sendTestEvent(test, ownerOf(owned));
}

async function setDestination({ bus }: Dispatcher): Promise<void> {
  fixture.integrations.set(owned.destinationId, owned.url);
  await bus.publish([event(3)]);
}

test.each([
  ['the replay of a delivery', replayFirst],
  ['the replay of many deliveries', replayMany],
  ['the success of a test event', sendTestEvent],
  ['the first event after its destination was set anew', setDestination],
])('%s has a destination tried at once whose circuit breaker is open', async (_, request) => {
  const receiver = await fixture.addReceiver();
  owned = receiver;
  const { bus, settled, close } = await fixture.start();
  await bus.publish([event(1)]);
  await settled();
  await close();
  await fixture.sql.query(
    `INSERT INTO open_breakers VALUES ($1, 1, 9, now() + interval '1 hour')`,
    [receiver.destinationId],
  );
  const dispatcher = await fixture.start();
  await until(async () => expect(await dispatcher.metrics()).toContain('state="open"} 1'));
  await dispatcher.bus.publish([event(2)]);
  await until(async () => {
    const { rows } = await fixture.sql.query(
      'SELECT state, leased FROM deliveries WHERE sequence = 2',
    );
    expect(rows).toEqual([{ state: 'due', leased: false }]);
  });

  await request(dispatcher);
  await dispatcher.settled();
  const sequences = receiver.received.map(({ headers }) => headers['webhook-sequence']);
  expect(sequences).toContain('2');
  await until(async () => expect(await dispatcher.metrics()).toContain('state="open"} 0'));
});
