import { createHmac, randomUUID } from 'node:crypto';
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import { newId } from '@creditlane/runtime/ids';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deliveriesClient, ownDeliveries, ownerOf } from './own-deliveries/test-owner.ts';
import { findTooFewDeliveries } from './store/intake/expected-deliveries.ts';
import { insertDelivery } from './test-deliveries.ts';
import { createTestFixture, sequences, type TestFixture, until, upTo } from './test-fixture.ts';
import { watchPastDays } from './test-past-days.ts';
import { answer, hang, type Responder } from './test-receiver.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

describe('the webhook of a decision', () => {
  test('is delivered to every destination, signed with the secret of each', async () => {
    const receivers = [await fixture.addReceiver(), await fixture.addReceiver()];
    const { bus, settled } = await fixture.start();
    await bus.publish([fixture.event({ conditions: 'preuve de revenu é' })]);
    await settled();
    const ids = receivers.map(({ received: [webhook, ...others], secret }) => {
      expect(others).toEqual([]);
      if (webhook === undefined) throw new Error('nothing arrived');
      const { path, headers, body } = webhook;
      expect(path).toBe('/application-booked');
      expect(headers['content-type']).toBe('application/json');
      expect(headers['webhook-sequence']).toBe('1');
      expect(headers['x-service-signature']).toBe(
        createHmac('sha256', secret).update(body).digest('hex'),
      );
      const verified = new Webhook(secret, { format: 'raw' }).verify(
        body,
        headers as Record<string, string>,
      );
      const { retailerId, creditorId, applicationId } = fixture;
      expect(verified).toEqual({
        retailerId,
        creditorId,
        applicationId,
        status: 'BOOKED',
        conditions: 'preuve de revenu é',
      });
      return headers['webhook-id'];
    });
    expect(new Set(ids).size).toBe(2);
  });

  test('is delivered when the recipients of all events together are a larger answer than may be', async () => {
    const { received } = await fixture.addReceiver();
    fixture.integrations.state.maxPairs = 2;
    const { bus, settled } = await fixture.start();
    const events = upTo(5).map(() =>
      fixture.event({ applicationId: randomUUID(), creditorId: randomUUID() }),
    );
    await bus.publish(events);
    await settled();
    expect(fixture.integrations.state.refusedCalls).toBeGreaterThan(0);
    expect(received).toHaveLength(5);
  });

  test('that misses at one destination is the only one found to have too few deliveries', async () => {
    await fixture.addReceiver();
    await fixture.addReceiver();
    const { bus, settled } = await fixture.start();
    const sent = [
      fixture.event({ sequence: 2 }),
      // Comes after a later decision of its submission.
      fixture.event({ sequence: 1 }),
      fixture.event({ sequence: 3, decision: 'WITHDRAWN' }),
    ];
    for (const event of sent) await bus.publish([event]);
    await settled();
    const ids = sent.map(({ headers }) => headers.ce_id ?? '');
    expect(await findTooFewDeliveries(fixture.sql, ids)).toEqual([]);
    await fixture.sql.query(
      'DELETE FROM deliveries WHERE id = (SELECT id FROM deliveries LIMIT 1)',
    );
    expect(await findTooFewDeliveries(fixture.sql, ids)).toEqual(ids.slice(0, 1));
  });

  test('that fails at first is delivered without a look into the partitions of past days', async () => {
    const receiver = await fixture.addReceiver();
    let answered = 0;
    receiver.respondWith((_, response) => {
      answered += 1;
      response.writeHead(answered % 3 === 0 ? 503 : 204).end();
    });
    const scansOfPastDays = await watchPastDays(fixture);
    const { bus, settled, close } = await fixture.start();
    // A connection plans a statement five times for its values, and then once for any.
    const rounds = 12;
    for (let round = 1; round <= rounds; round += 1) {
      const applicationId = randomUUID();
      // The second event waits for the first one.
      const events = [1, 2].map((sequence) =>
        fixture.event({ applicationId, sequence, eventId: newId() }),
      );
      await bus.publish(events);
      await until(() => expect(answered - Math.floor(answered / 3)).toBe(2 * round));
      // By the statistics of small partitions, a join that reads all of them seems as good as a lookup.
      await fixture.sql.query('ANALYZE messages');
    }
    await settled();
    await close();
    expect(await scansOfPastDays()).toEqual({});
  });

  test('is compared with its recipients without a look into the partitions of earlier days', async () => {
    const eventId = newId();
    const scansOfPastDays = await watchPastDays(fixture, async (client) => {
      const values = ['webhook-dispatcher', eventId];
      await client.query(
        'INSERT INTO inbox (consumer, event_id, expected_effects) VALUES ($1, $2, 1)',
        values,
      );
      await insertDelivery(client, { eventId, state: 'delivered', settledAt: new Date() });
    });
    const reconciler = new pg.Client({
      connectionString: fixture.database.url,
      application_name: 'reconciler',
    });
    await reconciler.connect();
    expect(await findTooFewDeliveries(reconciler, [eventId])).toEqual([]);
    await reconciler.end();
    expect(await scansOfPastDays()).toEqual({});
  });

  test('does not exist for a decision value without an event type, and webhook-sequence has no gap', async () => {
    const { received } = await fixture.addReceiver();
    const { bus, settled } = await fixture.start();
    await bus.publish([fixture.event({ decision: 'WITHDRAWN' }), fixture.event({ sequence: 2 })]);
    await settled();
    expect(received.map(({ path }) => path)).toEqual(['/application-booked']);
    expect(sequences(received)).toEqual([1]);
  });

  test('is delivered once when the event is published repeatedly, also under another id', async () => {
    const { received } = await fixture.addReceiver();
    const { bus, settled } = await fixture.start();
    const event = fixture.event();
    await bus.publish([event, event]);
    await bus.publish([event]);
    // The same decision under another id, as after the loss of all Kafka data.
    await bus.publish([fixture.event()]);
    await settled();
    expect(received).toHaveLength(1);
  });

  test('is delivered to a destination that was added after the previous event, numbered from 1', async () => {
    const early = await fixture.addReceiver();
    const { bus, settled } = await fixture.start({ DESTINATIONS_CACHE: '1s' });
    await bus.publish([fixture.event()]);
    const late = await fixture.addReceiver();
    await bus.publish([fixture.event({ sequence: 2 })]);
    await settled();
    expect(sequences(early.received)).toEqual([1, 2]);
    expect(sequences(late.received)).toEqual([1]);
  });

  test('needs one call of the integrations service for a whole batch of events', async () => {
    const { received } = await fixture.addReceiver();
    const { bus, settled } = await fixture.start();
    const creditors = upTo(20).map(() => randomUUID());
    await bus.publish(creditors.map((creditorId) => fixture.event({ creditorId })));
    await settled();
    expect(received).toHaveLength(20);
    expect(fixture.integrations.state.findRecipientsCalls).toBe(1);
  });
});

describe('the webhooks of one application', () => {
  test('are delivered in order while the receiver fails', async () => {
    const { received, respondWith } = await fixture.addReceiver();
    const refuse = new Set([1, 3, 4, 7]);
    respondWith(({ headers }, response) => {
      const fails = refuse.delete(Number(headers['webhook-sequence']));
      response.writeHead(fails ? 500 : 200).end();
    });
    const { bus, settled } = await fixture.start();
    await bus.publish(upTo(8).map((sequence) => fixture.event({ sequence })));
    await until(() => expect(received).toHaveLength(12));
    await settled();
    expect(sequences(received)).toEqual([1, 1, 2, 3, 3, 4, 4, 5, 6, 7, 7, 8]);
  });

  test('have the same id and bytes on every attempt, and a valid signature on each', async () => {
    const { received, respondWith, secret } = await fixture.addReceiver();
    respondWith(answer(500));
    const { bus } = await fixture.start();
    await bus.publish([fixture.event({ decision: 'APPROVED' })]);
    await until(() => expect(received).toHaveLength(3));
    const [first] = received;
    for (const { headers, body } of received) {
      expect(headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(body).toBe(first?.body);
      new Webhook(secret, { format: 'raw' }).verify(body, headers as Record<string, string>);
    }
  });

  test('wait behind a failing webhook until its hold ends, are then delivered, and count as late by their receiver', async () => {
    const { received, respondWith } = await fixture.addReceiver();
    respondWith(({ headers }, response) => {
      response.writeHead(headers['webhook-sequence'] === '1' ? 500 : 200).end();
    });
    const { bus, metrics } = await fixture.start({ RETRY_DELAYS: '1h', ORDER_HOLD: '700ms' });
    const startedMs = performance.now();
    await bus.publish(upTo(3).map((sequence) => fixture.event({ sequence })));
    await until(() => expect(sequences(received)).toEqual([1, 2, 3]));
    expect(performance.now() - startedMs).toBeGreaterThan(700);
    const text = await metrics();
    expect(text).toContain('creditlane_webhook_latency_seconds_count{receiver="answering"} 1');
    expect(text).toContain('creditlane_webhook_latency_seconds_count{receiver="failing"} 2');
  });

  test('do not delay another application or another destination while one hangs', async () => {
    const slow = await fixture.addReceiver();
    const quick = await fixture.addReceiver();
    slow.respondWith(({ body }, response) => {
      if (!body.includes(fixture.applicationId)) response.end();
    });
    const { bus } = await fixture.start();
    const other = 'b0a7c3de-0000-4000-8000-000000000001';
    await bus.publish([
      ...upTo(3).map((sequence) => fixture.event({ sequence })),
      fixture.event({ applicationId: other }),
    ]);
    await until(() => {
      expect(quick.received).toHaveLength(4);
      expect(slow.received.map(({ body }) => body.includes(other)).sort()).toEqual([false, true]);
    });
  });
});

test('a destination whose secret cannot be opened fails alone, does not count as failing, and is sent to once the secret can be opened', async () => {
  const unreadable = await fixture.addReceiver();
  const other = await fixture.addReceiver();
  const { destinations } = fixture.integrations;
  const found = destinations.get(unreadable.destinationId);
  if (found === undefined) throw new Error('the receiver has a destination');
  destinations.set(unreadable.destinationId, { ...found, secrets: [] });
  const { bus } = await fixture.start({ RETRY_DELAYS: Array(20).fill('200ms').join() });
  await bus.publish([fixture.event()]);
  await until(() => expect(other.received).toHaveLength(1));
  const failures = async () => {
    const { rows } = await fixture.sql.query('SELECT failure FROM attempts');
    return rows.map(({ failure }) => failure);
  };
  await expect.poll(failures).toContain('secret_unreadable');
  expect(unreadable.received).toEqual([]);
  const { rows: failing } = await fixture.sql.query(
    'SELECT destination_id FROM destination_states WHERE failing_since IS NOT NULL',
  );
  expect(failing).toEqual([]);
  destinations.set(unreadable.destinationId, found);
  await expect.poll(() => unreadable.received).toHaveLength(1);
});

describe('a receiver', () => {
  /** A receiver whose attempts end by the deadline. An attempt whose connection opens after the deadline sends no request. */
  const LATE = {
    deadline: '200ms',
    attempt: {
      status: 0,
      failure: 'deadline',
      failureMessage: 'Your receiver did not answer in time.',
    },
    minRequests: 0,
  };

  test.each<{
    does: string;
    responder: Responder;
    attempt: object;
    deadline?: string;
    minRequests?: number;
  }>([
    { does: 'hangs', responder: hang, ...LATE },
    {
      does: 'redirects',
      responder: answer(302, { location: 'http://169.254.169.254/' }),
      attempt: { status: 302, failure: '', failureMessage: '' },
    },
    {
      does: 'closes the connection',
      responder: (_, response) => void response.destroy(),
      attempt: { status: 0, failure: 'connection_closed' },
    },
    {
      does: 'sends the head of its answer byte by byte',
      responder: (_, { socket }) => {
        socket?.write('HTTP/1.1 200 ');
        const drip = setInterval(() => socket?.write('O'), 50);
        socket?.on('close', () => clearInterval(drip));
      },
      ...LATE,
    },
  ])(
    'that $does gets every attempt, and the delivery is dead after the last one',
    async ({ responder, attempt, deadline = '60s', minRequests = 2 }) => {
      const receiver = await fixture.addReceiver();
      receiver.respondWith(responder);
      const dispatcher = await fixture.start({ RETRY_DELAYS: '50ms', DELIVERY_DEADLINE: deadline });
      await dispatcher.bus.publish([fixture.event()]);
      const [dead] = await until(async () => {
        const deliveries = await ownDeliveries(dispatcher, receiver, { state: DeliveryState.DEAD });
        expect(deliveries).toHaveLength(1);
        return deliveries;
      });
      expect(receiver.received.length).toBeGreaterThanOrEqual(minRequests);
      expect(receiver.received.length).toBeLessThanOrEqual(2);
      expect(dead).toMatchObject({ reason: 'attempts_exhausted', sequence: 1 });
      const { deliveryId = '' } = dead ?? {};
      const client = deliveriesClient(dispatcher);
      const { attempts } = await client.getOwnDelivery({ deliveryId }, ownerOf(receiver));
      expect(attempts).toMatchObject([attempt, attempt]);
    },
  );
});

test('an event whose destination is removed before a retry has a dead delivery', async () => {
  const { received, respondWith, destinationId } = await fixture.addReceiver();
  respondWith(answer(500));
  const { bus, settled } = await fixture.start({ RETRY_DELAYS: '300ms' });
  await bus.publish([fixture.event()]);
  await until(() => expect(received).toHaveLength(1));
  fixture.integrations.destinations.delete(destinationId);
  await until(async () => {
    const { rows } = await fixture.sql.query('SELECT state, reason FROM deliveries');
    expect(rows).toEqual([{ state: 'dead', reason: 'destination_removed' }]);
  });
  await settled();
});

test('a delivered webhook is not sent again when its result can be written only after its lease has ended', async () => {
  const { received } = await fixture.addReceiver();
  const { bus, settled } = await fixture.start({ LEASE: '1s' });
  await fixture.sql.query(
    `CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE 'out of means' USING ERRCODE = '53000'; END $$`,
  );
  // Leases cannot be renewed and results cannot be written, but due deliveries can be claimed.
  await fixture.sql.query(
    `CREATE TRIGGER stall BEFORE UPDATE ON deliveries FOR EACH ROW
     WHEN (NEW.fence = OLD.fence OR NEW.state <> 'due') EXECUTE FUNCTION stall()`,
  );
  await bus.publish([fixture.event()]);
  await until(async () => {
    const { rows } = await fixture.sql.query('SELECT fence >= 2 AS claimed FROM deliveries');
    expect(rows).toEqual([{ claimed: true }]);
  });
  await fixture.sql.query('DROP TRIGGER stall ON deliveries');
  await settled();
  expect(received).toHaveLength(1);
});

describe('while the integrations service is unavailable', () => {
  test('the handling of an event rejects, and succeeds later', async () => {
    const { received } = await fixture.addReceiver();
    const { bus, settled } = await fixture.start();
    fixture.integrations.state.isUnavailable = true;
    await expect(bus.publish([fixture.event()])).rejects.toThrow('unavailable');
    fixture.integrations.state.isUnavailable = false;
    await bus.publish([fixture.event()]);
    await settled();
    expect(received).toHaveLength(1);
  });

  test('a delivery waits, and no attempt is counted', async () => {
    const { received, respondWith } = await fixture.addReceiver();
    respondWith(answer(500));
    const { bus, settled } = await fixture.start({ RETRY_DELAYS: '300ms' });
    await bus.publish([fixture.event()]);
    await until(() => expect(received).toHaveLength(1));
    respondWith(answer(200));
    fixture.integrations.state.isUnavailable = true;
    await until(async () => {
      const { rows } = await fixture.sql.query('SELECT fence > 2 AS returned FROM deliveries');
      expect(rows).toEqual([{ returned: true }]);
    });
    fixture.integrations.state.isUnavailable = false;
    await until(() => expect(received).toHaveLength(2));
    await settled();
    const { rows } = await fixture.sql.query('SELECT state, attempts FROM deliveries');
    expect(rows).toEqual([{ state: 'delivered', attempts: 2 }]);
  });
});
