import { randomUUID } from 'node:crypto';
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownDeliveries } from '../own-deliveries/test-owner.ts';
import { createTestFixture, sequences, type TestFixture } from '../test-fixture.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

describe('an event', () => {
  test('whose body does not match its schema is listed as dead with the reason, and webhook-sequence has no gap', async () => {
    const receiver = await fixture.addReceiver();
    const dispatcher = await fixture.start();
    const { bus, settled, metrics } = dispatcher;
    await bus.publish([
      fixture.event({ decision: 'APPROVED', terms: null }),
      fixture.event({ sequence: 2 }),
    ]);
    await settled();
    expect(sequences(receiver.received)).toEqual([1]);
    const { applicationId } = fixture;
    expect(await ownDeliveries(dispatcher, receiver, { applicationId })).toMatchObject([
      { state: DeliveryState.DELIVERED, event: 'applicationBooked' },
      {
        state: DeliveryState.DEAD,
        event: 'applicationApproved',
        reason: expect.stringContaining('firstPaymentDate'),
      },
    ]);
    expect(await metrics()).toContain('creditlane_webhook_backlog{state="dead"} 1');
  });

  test('that is unreadable becomes a dead letter, and later events are delivered', async () => {
    const { received } = await fixture.addReceiver();
    const { bus, settled } = await fixture.start();
    const garbage = { ...fixture.event({ sequence: 2 }), value: Buffer.from('not protobuf') };
    const nonsense = fixture.event({ sequence: 3, decision: 'UNSPECIFIED' });
    await bus.publish([fixture.event(), garbage, nonsense, fixture.event({ sequence: 4 })]);
    await settled();
    expect(sequences(received)).toEqual([1, 2]);
    const { rows } = await fixture.sql.query('SELECT reason FROM dead_letters ORDER BY id');
    expect(rows).toEqual([
      { reason: expect.stringContaining('no such decision') },
      { reason: expect.stringContaining('UndecodableEventError') },
    ]);
  });

  test('whose creditor id is no UUID becomes a dead letter', async () => {
    const { received } = await fixture.addReceiver();
    const { bus, settled } = await fixture.start();
    await bus.publish([fixture.event({ creditorId: 'not-a-uuid' }), fixture.event()]);
    await settled();
    expect(sequences(received)).toEqual([1]);
    const { rows } = await fixture.sql.query('SELECT reason FROM dead_letters');
    expect(rows).toEqual([{ reason: expect.stringContaining('an id of the decision') }]);
  });

  test('that was unreadable and is published again is delivered, unless a later decision was', async () => {
    const { received } = await fixture.addReceiver();
    const { bus, settled } = await fixture.start();
    const [first, last] = [randomUUID(), randomUUID()];
    const unreadable = { decision: 'UNSPECIFIED' };
    await bus.publish([
      fixture.event({ eventId: first, ...unreadable }),
      fixture.event({ sequence: 2, decision: 'DECLINED' }),
      fixture.event({ eventId: last, sequence: 3, ...unreadable }),
    ]);
    await bus.publish([
      fixture.event({ eventId: first }),
      fixture.event({ eventId: last, sequence: 3 }),
    ]);
    await settled();
    expect(received.map(({ path }) => path)).toEqual([
      '/application-declined',
      '/application-booked',
    ]);
    expect(sequences(received)).toEqual([1, 2]);
  });
});
