import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { retailerEnabled } from '../events/test-enablements.ts';
import { exported } from '../events/test-exports.ts';
import { deliveriesClient, ownDeliveries, ownerOf } from '../own-deliveries/test-owner.ts';
import { findTooFewDeliveries } from '../store/intake/expected-deliveries.ts';
import {
  createTestFixture,
  type Receiver,
  sequences,
  type TestFixture,
  until,
} from '../test-fixture.ts';

let fixture: TestFixture;
let receiver: Receiver;
beforeEach(async () => {
  fixture = await createTestFixture();
  receiver = await fixture.addReceiver();
});
afterEach(() => fixture.close());

const filter = (...events: string[]) =>
  fixture.integrations.state.eventFilters.set(receiver.destinationId, events);
const pathsOf = ({ received }: Pick<Receiver, 'received'>) => received.map(({ path }) => path);

describe('a destination with an event filter', () => {
  test('gets of the events of a batch those alone that the filter names, without a gap in their numbers', async () => {
    const other = await fixture.addReceiver();
    filter('applicationDeclined');
    const { bus, settled } = await fixture.start();
    // Of one application, creditor and retailer, so that only their names distinguish their recipients.
    const decisions = ['BOOKED', 'DECLINED', 'BOOKED', 'DECLINED'];
    await bus.publish(
      decisions.map((decision, index) => fixture.event({ decision, sequence: index + 1 })),
    );
    await settled();
    expect(pathsOf(receiver)).toEqual(['/application-declined', '/application-declined']);
    expect(sequences(receiver.received)).toEqual([1, 2]);
    expect(pathsOf(other)).toEqual([
      '/application-booked',
      '/application-declined',
      '/application-booked',
      '/application-declined',
    ]);
    expect(fixture.integrations.state.findRecipientsCalls).toBe(1);
  });

  test('gets no delivery of an event that the filter lacks, and the reconciler does not miss one', async () => {
    filter('applicationDeclined');
    const { bus, settled } = await fixture.start();
    const eventIds = [randomUUID(), randomUUID()] as const;
    await bus.publish([
      fixture.event({ eventId: eventIds[0], sequence: 1 }),
      fixture.event({ eventId: eventIds[1], sequence: 2, decision: 'DECLINED' }),
    ]);
    await settled();
    const { sql } = fixture;
    const { rows } = await sql.query('SELECT event_id FROM deliveries');
    expect(rows).toEqual([{ event_id: eventIds[1] }]);
    // The reconciler looks for events without a row in the inbox, and for those with too few deliveries.
    const handled = await sql.query('SELECT event_id FROM inbox WHERE event_id = ANY ($1)', [
      eventIds,
    ]);
    expect(handled.rows).toHaveLength(2);
    expect(await findTooFewDeliveries(sql, eventIds)).toEqual([]);
    await sql.query('DELETE FROM deliveries');
    expect(await findTooFewDeliveries(sql, eventIds)).toEqual([eventIds[1]]);
  });

  test.each([
    { name: 'applicationExported', makeEvent: exported, path: '/application-exported' },
    { name: 'integrationEnabled', makeEvent: retailerEnabled, path: '/integration-enabled' },
  ])('gets $name only if the filter names it', async ({ name, makeEvent, path }) => {
    filter('applicationBooked');
    const { bus, settled } = await fixture.start();
    const event = () => makeEvent(fixture, { integrationId: receiver.destinationId });
    await bus.publish([event()]);
    await settled();
    expect(receiver.received).toEqual([]);
    filter(name);
    await bus.publish([event()]);
    await settled();
    expect(pathsOf(receiver)).toEqual([path]);
  });

  test('gets a replay of an event that the filter lacks now', async () => {
    const dispatcher = await fixture.start();
    await dispatcher.bus.publish([fixture.event()]);
    await dispatcher.settled();
    filter('applicationDeclined');
    const [delivery] = await ownDeliveries(dispatcher, receiver);
    const { deliveryId = '' } = delivery ?? {};
    await deliveriesClient(dispatcher).replayDelivery({ deliveryId }, ownerOf(receiver));
    await until(() =>
      expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([
        deliveryId,
        deliveryId,
      ]),
    );
  });

  test('gets a test event of a webhook that the filter lacks', async () => {
    filter('applicationDeclined');
    const { clients } = await fixture.start();
    const { retailerId, creditorId, applicationId } = fixture;
    const payload = JSON.stringify({ retailerId, status: 'BOOKED', creditorId, applicationId });
    const request = { event: 'applicationBooked', payload };
    const answer = await deliveriesClient({ clients }).sendTestEvent(request, ownerOf(receiver));
    expect(answer.succeeded).toBe(true);
    expect(pathsOf(receiver)).toEqual(['/application-booked']);
  });
});
