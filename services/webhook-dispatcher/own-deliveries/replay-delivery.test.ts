import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import { firstIdOfTime, newId } from '@creditlane/runtime/ids';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  createTestFixture,
  type Dispatcher,
  type Receiver,
  sequences,
  type TestFixture,
  until,
  upTo,
} from '../test-fixture.ts';
import { watchPastDays } from '../test-past-days.ts';
import { answer } from '../test-receiver.ts';
import { deliveriesClient, ownerOf } from './test-owner.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

/** The id of the delivery with this sequence. */
async function idOf(sequence: number): Promise<string> {
  const { rows } = await fixture.sql.query('SELECT id FROM deliveries WHERE sequence = $1', [
    sequence,
  ]);
  return rows[0]?.id;
}

async function statesBySequence(): Promise<string[]> {
  const { rows } = await fixture.sql.query('SELECT state FROM deliveries ORDER BY sequence');
  return rows.map(({ state }) => state);
}

const replay = async (dispatcher: Dispatcher, receiver: Receiver, sequence: number) =>
  deliveriesClient(dispatcher).replayDelivery(
    { deliveryId: (await idOf(sequence)).toUpperCase() },
    ownerOf(receiver),
  );

/** Two attempts, so that a delivery is soon dead. */
const TWO_ATTEMPTS = { RETRY_DELAYS: '20ms' };

/** Publishes decisions 1 to `count`, and makes the delivery of each dead. */
async function killDeliveries(receiver: Receiver, dispatcher: Dispatcher, count: number) {
  receiver.respondWith(answer(500));
  await dispatcher.bus.publish(upTo(count).map((sequence) => fixture.event({ sequence })));
  await until(async () => expect(await statesBySequence()).toEqual(Array(count).fill('dead')));
  receiver.respondWith(answer(204));
  receiver.received.length = 0;
}

describe('a replay', () => {
  test('of a dead delivery sends the same id, bytes and sequence with a valid signature', async () => {
    const receiver = await fixture.addReceiver();
    receiver.respondWith(answer(500));
    const dispatcher = await fixture.start(TWO_ATTEMPTS);
    await dispatcher.bus.publish([fixture.event({ decision: 'APPROVED' })]);
    await until(async () => expect(await statesBySequence()).toEqual(['dead']));
    receiver.respondWith(answer(204));
    const { delivery } = await replay(dispatcher, receiver, 1);
    expect(delivery).toMatchObject({ state: DeliveryState.DUE, reason: '', attemptCount: 2 });
    expect(delivery?.replayedAt).toBeDefined();
    await dispatcher.settled();
    const [first, , third] = receiver.received;
    expect(receiver.received).toHaveLength(3);
    expect(third?.body).toBe(first?.body);
    for (const name of ['webhook-id', 'webhook-sequence']) {
      expect(third?.headers[name]).toBe(first?.headers[name]);
    }
    new Webhook(receiver.secret, { format: 'raw' }).verify(
      third?.body ?? '',
      third?.headers as Record<string, string>,
    );
    expect(await statesBySequence()).toEqual(['delivered']);
  });

  test('of a delivered delivery is sent at once, also by the process that has just delivered it', async () => {
    const receiver = await fixture.addReceiver();
    // A replay that waited for the end of its lease would exceed the time limit.
    const dispatcher = await fixture.start({ LEASE: '30s' });
    await dispatcher.bus.publish([fixture.event()]);
    await dispatcher.settled();
    await replay(dispatcher, receiver, 1);
    await until(() => expect(receiver.received).toHaveLength(2));
    await dispatcher.settled();
    await replay(dispatcher, receiver, 1);
    await until(() => expect(receiver.received).toHaveLength(3));
  });

  test('has as many attempts as a new delivery, listed after the earlier ones', async () => {
    const receiver = await fixture.addReceiver();
    const dispatcher = await fixture.start(TWO_ATTEMPTS);
    await killDeliveries(receiver, dispatcher, 1);
    receiver.respondWith(answer(503));
    await replay(dispatcher, receiver, 1);
    await until(async () => expect(await statesBySequence()).toEqual(['dead']));
    expect(receiver.received).toHaveLength(2);
    const deliveryId = await idOf(1);
    const found = await deliveriesClient(dispatcher).getOwnDelivery(
      { deliveryId },
      ownerOf(receiver),
    );
    expect(found.attempts.map(({ status }) => status)).toEqual([500, 500, 503, 503]);
    expect(found.delivery).toMatchObject({ attemptCount: 4, reason: 'attempts_exhausted' });
  });

  test('looks once into the partitions of the days since the delivery was made, and into no earlier one', async () => {
    const receiver = await fixture.addReceiver();
    const first = await fixture.start();
    await first.bus.publish([fixture.event()]);
    await first.settled();
    await first.close();
    const nowMs = Date.now();
    const daysAgo = (days: number) => new Date(nowMs - days * 86_400_000);
    const nameOf = (days: number) => daysAgo(days).toISOString().slice(0, 10).replaceAll('-', '');
    const deliveryId = firstIdOfTime(daysAgo(5).getTime());
    const scansOfPastDays = await watchPastDays(fixture, (client) =>
      client.query('UPDATE deliveries SET id = $1, settled_at = $2', [deliveryId, daysAgo(3)]),
    );
    const dispatcher = await fixture.start();
    await deliveriesClient(dispatcher).replayDelivery({ deliveryId }, ownerOf(receiver));
    await dispatcher.settled();
    await dispatcher.close();
    expect(receiver.received).toHaveLength(2);
    const searches: Record<string, number> = {};
    for (const [name, scans] of Object.entries(await scansOfPastDays())) {
      // The policy of the messages asks for deliveries of an event.
      const [, day] = /^deliveries_ended_([0-9]{8})_(?!event_id)/.exec(name) ?? [];
      if (day !== undefined) searches[day] = (searches[day] ?? 0) + scans;
    }
    // A delivery is found by its id; where it was found it is locked, and moved into the queue.
    const { [nameOf(3)]: ofItsEnd, ...others } = searches;
    expect(ofItsEnd).toBeLessThanOrEqual(5);
    // The day before its making is searched, too, because clocks differ.
    expect(others).toEqual(Object.fromEntries([2, 4, 5, 6].map((days) => [nameOf(days), 1])));
  });

  test('of a delivery that ended days before the time in its id is found, and sent', async () => {
    const receiver = await fixture.addReceiver();
    const dispatcher = await fixture.start();
    const { bus, settled } = dispatcher;
    await bus.publish([fixture.event()]);
    await settled();
    // As a process made it whose clock was ahead.
    const deliveryId = newId();
    await fixture.sql.query(
      `UPDATE deliveries SET id = $1, settled_at = now() - interval '3 days'`,
      [deliveryId],
    );
    const deliveries = deliveriesClient(dispatcher);
    const found = await deliveries.getOwnDelivery({ deliveryId }, ownerOf(receiver));
    expect(found.delivery?.state).toBe(DeliveryState.DELIVERED);
    await deliveries.replayDelivery({ deliveryId }, ownerOf(receiver));
    await settled();
    expect(receiver.received).toHaveLength(2);
  });

  test('repeated with its idempotency key is sent once, and gets the first answer', async () => {
    const receiver = await fixture.addReceiver();
    const dispatcher = await fixture.start();
    await dispatcher.bus.publish([fixture.event()]);
    await dispatcher.settled();
    const deliveryId = await idOf(1);
    const onReplayed = vi.fn();
    const call = () =>
      deliveriesClient(dispatcher).replayDelivery(
        { deliveryId },
        { ...ownerOf(receiver), idempotencyKey: 'once', onReplayed },
      );
    const first = await call();
    await dispatcher.settled();
    expect(await call()).toEqual(first);
    expect(onReplayed).toHaveBeenCalledTimes(1);
    await dispatcher.settled();
    expect(receiver.received).toHaveLength(2);
  });

  test('that is asked for twice at once is sent once', async () => {
    const receiver = await fixture.addReceiver();
    const dispatcher = await fixture.start(TWO_ATTEMPTS);
    await killDeliveries(receiver, dispatcher, 1);
    const responses: ServerResponse[] = [];
    receiver.respondWith((_, response) => void responses.push(response));
    const both = await Promise.allSettled([1, 2].map(() => replay(dispatcher, receiver, 1)));
    expect(both.some(({ status }) => status === 'fulfilled')).toBe(true);
    for (const refused of both.filter(({ status }) => status === 'rejected')) {
      expect(refused).toMatchObject({ reason: { kind: 'conflict', code: 'delivery_pending' } });
    }
    await until(() => expect(responses).toHaveLength(1));
    responses[0]?.writeHead(204).end();
    await dispatcher.settled();
    const { rows } = await fixture.sql.query('SELECT replays FROM deliveries');
    expect([rows, receiver.received.length]).toEqual([[{ replays: 1 }], 1]);
  });

  test('of a delivery that waits for its next attempt makes that attempt at once', async () => {
    const receiver = await fixture.addReceiver();
    receiver.respondWith(answer(500));
    const dispatcher = await fixture.start({ RETRY_DELAYS: '1h' });
    await dispatcher.bus.publish([fixture.event(), fixture.event({ sequence: 2 })]);
    const failed = { state: 'due', leased: false, attempts: 1 };
    await until(async () => {
      const { rows } = await fixture.sql.query(
        'SELECT state, leased, attempts FROM deliveries WHERE sequence = 1',
      );
      expect(rows).toEqual([failed]);
    });
    receiver.respondWith(answer(204));
    const { delivery } = await replay(dispatcher, receiver, 1);
    expect(delivery).toMatchObject({ state: DeliveryState.DUE, attemptCount: 1 });
    expect(delivery?.replayedAt).toBeUndefined();
    await until(() => expect(sequences(receiver.received)).toEqual([1, 1, 2]));
    await dispatcher.settled();
    expect(await statesBySequence()).toEqual(['delivered', 'delivered']);
  });
});

describe('a replay keeps the order of its application:', () => {
  test('behind an earlier delivery that is replayed too, the replay waits and is sent afterwards', async () => {
    const receiver = await fixture.addReceiver();
    const dispatcher = await fixture.start(TWO_ATTEMPTS);
    await killDeliveries(receiver, dispatcher, 3);
    let mayAnswer = false;
    const unanswered: ServerResponse[] = [];
    receiver.respondWith((_, response) => {
      if (mayAnswer) response.writeHead(204).end();
      else unanswered.push(response);
    });
    const slow = await fixture.start({ RETRY_DELAYS: '200ms,200ms,200ms,200ms' });
    await dispatcher.close();
    await replay(slow, receiver, 1);
    expect((await replay(slow, receiver, 3)).delivery?.state).toBe(DeliveryState.WAITING);
    expect((await replay(slow, receiver, 2)).delivery?.state).toBe(DeliveryState.WAITING);
    await until(() => expect(unanswered).toHaveLength(1));
    mayAnswer = true;
    for (const response of unanswered) response.writeHead(500).end();
    await until(async () =>
      expect(await statesBySequence()).toEqual(['delivered', 'delivered', 'delivered']),
    );
    const [first, ...others] = sequences(receiver.received.filter((_, n) => n > 0));
    expect([first, ...others].filter((sequence, n, all) => sequence !== all[n - 1])).toEqual([
      1, 2, 3,
    ]);
  });

  test('later deliveries that wait go on waiting behind the replay', async () => {
    const receiver = await fixture.addReceiver();
    // So many that the second is not dead before the replay has been sent.
    const dispatcher = await fixture.start({ RETRY_DELAYS: Array(20).fill('300ms').join() });
    await dispatcher.bus.publish([fixture.event()]);
    await dispatcher.settled();
    // The second fails and is retried, the third waits behind it.
    let isFailing = true;
    receiver.respondWith((_, response) => void response.writeHead(isFailing ? 500 : 204).end());
    await dispatcher.bus.publish([fixture.event({ sequence: 2 }), fixture.event({ sequence: 3 })]);
    await until(() => expect(receiver.received).toHaveLength(2));
    receiver.received.length = 0;
    await replay(dispatcher, receiver, 1);
    await until(() => expect(sequences(receiver.received)).toContain(1));
    expect(await statesBySequence()).toEqual(['due', 'due', 'waiting']);
    isFailing = false;
    await until(async () =>
      expect(await statesBySequence()).toEqual(['delivered', 'delivered', 'delivered']),
    );
    expect(sequences(receiver.received).at(-1)).toBe(3);
  });

  test('the deliveries of other applications do not wait for the replay', async () => {
    const receiver = await fixture.addReceiver();
    const dispatcher = await fixture.start({ RETRY_DELAYS: '1h' });
    await dispatcher.bus.publish([fixture.event()]);
    await dispatcher.settled();
    receiver.respondWith(({ body }, response) => {
      if (!body.includes(fixture.applicationId)) response.end();
    });
    await replay(dispatcher, receiver, 1);
    await dispatcher.bus.publish([fixture.event({ applicationId: randomUUID() })]);
    await until(() => expect(receiver.received).toHaveLength(3));
  });
});

describe('a replay is refused', () => {
  const refusal = (code: string, kind = 'conflict') => expect.objectContaining({ kind, code });

  test('while an attempt is under way, and of a delivery that waits for an earlier one', async () => {
    const receiver = await fixture.addReceiver();
    receiver.respondWith(() => {});
    const dispatcher = await fixture.start();
    await dispatcher.bus.publish([fixture.event(), fixture.event({ sequence: 2 })]);
    await until(() => expect(receiver.received).toHaveLength(1));
    for (const sequence of [1, 2]) {
      const replayed = replay(dispatcher, receiver, sequence);
      await expect(replayed).rejects.toEqual(refusal('delivery_pending'));
    }
  });

  test('while the destination is disabled, and is sent once the destination is set anew', async () => {
    const receiver = await fixture.addReceiver();
    receiver.respondWith(answer(410));
    const dispatcher = await fixture.start();
    await dispatcher.bus.publish([fixture.event()]);
    await dispatcher.settled();
    await dispatcher.bus.publish([fixture.event({ sequence: 2 })]);
    await dispatcher.settled();
    for (const sequence of [1, 2]) {
      const replayed = replay(dispatcher, receiver, sequence);
      await expect(replayed).rejects.toEqual(refusal('destination_disabled'));
    }
    receiver.respondWith(answer(204));
    fixture.integrations.set(receiver.destinationId, receiver.url);
    await replay(dispatcher, receiver, 2);
    await dispatcher.settled();
    expect(sequences(receiver.received)).toEqual([1, 2]);
  });

  test('for an event whose body does not match its schema', async () => {
    const receiver = await fixture.addReceiver();
    const dispatcher = await fixture.start();
    await dispatcher.bus.publish([fixture.event({ decision: 'APPROVED', terms: null })]);
    const { rows } = await fixture.sql.query('SELECT id FROM deliveries');
    const replayed = deliveriesClient(dispatcher).replayDelivery(
      { deliveryId: rows[0]?.id },
      ownerOf(receiver),
    );
    await expect(replayed).rejects.toEqual(refusal('delivery_unsendable'));
  });

  test('after a hundred replays', async () => {
    const receiver = await fixture.addReceiver();
    const dispatcher = await fixture.start();
    await dispatcher.bus.publish([fixture.event()]);
    await dispatcher.settled();
    await fixture.sql.query('UPDATE deliveries SET replays = 100');
    await expect(replay(dispatcher, receiver, 1)).rejects.toEqual(refusal('too_many_replays'));
  });

  test('for a delivery of another destination as for one that does not exist', async () => {
    const receiver = await fixture.addReceiver();
    const dispatcher = await fixture.start();
    await dispatcher.bus.publish([fixture.event()]);
    await dispatcher.settled();
    const client = deliveriesClient(dispatcher);
    const other = await fixture.addReceiver();
    const faults = await Promise.all(
      [
        [await idOf(1), ownerOf(other)] as const,
        [randomUUID(), ownerOf(other)] as const,
        [await idOf(1), ownerOf({ destinationId: randomUUID() })] as const,
      ].flatMap(([deliveryId, caller]) => [
        client.replayDelivery({ deliveryId }, caller).catch((error) => error),
        client.getOwnDelivery({ deliveryId }, caller).catch((error) => error),
      ]),
    );
    const message = 'There is no such delivery.';
    const missing = { kind: 'not_found', code: 'delivery_not_found', message };
    for (const fault of faults) expect(fault).toMatchObject(missing);
    fixture.integrations.destinations.delete(receiver.destinationId);
    const removed = refusal('delivery_not_found', 'not_found');
    await expect(replay(dispatcher, receiver, 1)).rejects.toEqual(removed);
  });
});
