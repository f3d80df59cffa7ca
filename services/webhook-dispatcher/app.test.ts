import { createHmac, randomUUID } from 'node:crypto';
import { DeliveryState, WebhooksService } from '@creditlane/proto/webhooks/v1/webhooks_service';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestWorld, sequences, type TestWorld, upTo } from './test-fixture.ts';
import { answer, type Behaviour, hang } from './test-receiver.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await createTestWorld();
});
afterEach(() => world.close());

const operator = {
  identity: { kind: 'platform', subject: 'op', permissions: ['MANAGE_INTEGRATIONS'] },
} as const;
const until = <T>(check: () => T) => vi.waitFor(check, { timeout: 10_000, interval: 10 });

describe('a decision', () => {
  it('arrives at every destination, signed for each', async () => {
    const receivers = [await world.receiver(), await world.receiver()];
    const { bus, settled } = await world.start();
    await bus.publish([world.event({ conditions: 'preuve de revenu é' })]);
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
      const { retailerId, creditorId, applicationId } = world;
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

  it('goes to nobody when its value has no event', async () => {
    const { received } = await world.receiver();
    const { bus, settled } = await world.start();
    await bus.publish([world.event({ decision: 'WITHDRAWN' }), world.event({ sequence: 2 })]);
    await settled();
    expect(received.map(({ path }) => path)).toEqual(['/application-booked']);
    expect(sequences(received)).toEqual([1]);
  });

  it('arrives once, however often the event comes', async () => {
    const { received } = await world.receiver();
    const { bus, settled } = await world.start();
    const event = world.event();
    await bus.publish([event, event]);
    await bus.publish([event]);
    // The same decision under another id, as after the loss of the whole broker.
    await bus.publish([world.event()]);
    await settled();
    expect(received).toHaveLength(1);
  });

  it('arrives at a destination that could know nothing of the one before', async () => {
    const early = await world.receiver();
    const { bus, settled } = await world.start({ DESTINATIONS_CACHE: '1s' });
    await bus.publish([world.event()]);
    const late = await world.receiver();
    await bus.publish([world.event({ sequence: 2 })]);
    await settled();
    expect(sequences(early.received)).toEqual([1, 2]);
    expect(sequences(late.received)).toEqual([1]);
  });

  it('costs its peer no more questions for coming among many', async () => {
    const { received } = await world.receiver();
    const { bus, settled } = await world.start();
    const creditors = upTo(20).map(() => randomUUID());
    await bus.publish(creditors.map((creditorId) => world.event({ creditorId })));
    await settled();
    expect(received).toHaveLength(20);
    expect(world.integrations.state.questions).toBe(1);
  });
});

describe('webhooks of one application', () => {
  it('go in order while the receiver fails', async () => {
    const { received, behave } = await world.receiver();
    const refuse = new Set([1, 3, 4, 7]);
    behave(({ headers }, response) => {
      const fails = refuse.delete(Number(headers['webhook-sequence']));
      response.writeHead(fails ? 500 : 200).end();
    });
    const { bus, settled } = await world.start();
    await bus.publish(upTo(8).map((sequence) => world.event({ sequence })));
    await until(() => expect(received).toHaveLength(12));
    await settled();
    expect(sequences(received)).toEqual([1, 1, 2, 3, 3, 4, 4, 5, 6, 7, 7, 8]);
  });

  it('have the same id and bytes on every attempt, and a timestamp and signature of their own', async () => {
    const { received, behave, secret } = await world.receiver();
    behave(answer(500));
    const { bus } = await world.start();
    await bus.publish([world.event({ decision: 'APPROVED' })]);
    await until(() => expect(received).toHaveLength(3));
    const [first] = received;
    for (const { headers, body } of received) {
      expect(headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(body).toBe(first?.body);
      new Webhook(secret, { format: 'raw' }).verify(body, headers as Record<string, string>);
    }
  });

  it('are held back by a failing one no longer than the hold lasts', async () => {
    const { received, behave } = await world.receiver();
    behave(({ headers }, response) => {
      response.writeHead(headers['webhook-sequence'] === '1' ? 500 : 200).end();
    });
    const { bus } = await world.start({ RETRY_DELAYS: '1h', ORDER_HOLD: '700ms' });
    const startedMs = performance.now();
    await bus.publish(upTo(3).map((sequence) => world.event({ sequence })));
    await until(() => expect(sequences(received)).toEqual([1, 2, 3]));
    expect(performance.now() - startedMs).toBeGreaterThan(700);
  });

  it('hold up no other application, and no other destination', async () => {
    const slow = await world.receiver();
    const quick = await world.receiver();
    slow.behave(({ body }, response) => {
      if (!body.includes(world.applicationId)) response.end();
    });
    const { bus } = await world.start();
    const other = 'b0a7c3de-0000-4000-8000-000000000001';
    await bus.publish([
      ...upTo(3).map((sequence) => world.event({ sequence })),
      world.event({ applicationId: other }),
    ]);
    await until(() => {
      expect(quick.received).toHaveLength(4);
      expect(slow.received.map(({ body }) => body.includes(other)).sort()).toEqual([false, true]);
    });
  });
});

describe('a receiver that misbehaves', () => {
  it.each<[string, Behaviour, object]>([
    ['hangs', hang, { status: 0, failure: 'deadline' }],
    [
      'redirects',
      answer(302, { location: 'http://169.254.169.254/' }),
      { status: 302, failure: '' },
    ],
    [
      'cuts the line',
      (_, response) => void response.destroy(),
      { status: 0, failure: 'und_err_socket' },
    ],
    [
      'drips its answer',
      (_, response) => {
        const drip = setInterval(() => response.write('.'), 20);
        response.on('close', () => clearInterval(drip));
      },
      { status: 0, failure: 'deadline' },
    ],
  ])('and %s is tried again, and given up in the end', async (_, behaviour, attempt) => {
    const { received, behave } = await world.receiver();
    behave(behaviour);
    const { bus, clients } = await world.start({
      RETRY_DELAYS: '50ms',
      DELIVERY_DEADLINE: '200ms',
    });
    await bus.publish([world.event()]);
    const webhooks = clients(WebhooksService, 'gateway');
    const listed = await until(async () => {
      const { deliveries } = await webhooks.listDeliveries(
        { state: DeliveryState.DEAD, limit: 10 },
        operator,
      );
      expect(deliveries).toHaveLength(1);
      return deliveries[0];
    });
    expect(received).toHaveLength(2);
    expect(listed).toMatchObject({
      reason: 'attempts_exhausted',
      attempts: [attempt, attempt],
      sequence: 1n,
    });
  });
});

describe('what cannot be sent', () => {
  it('is parked with the reason, visible to operators, and does not break the numbers', async () => {
    const { received } = await world.receiver();
    const { bus, settled, clients, metrics } = await world.start();
    await bus.publish([
      world.event({ decision: 'APPROVED', terms: null }),
      world.event({ sequence: 2 }),
    ]);
    await settled();
    expect(sequences(received)).toEqual([1]);
    const { applicationId } = world;
    const { deliveries } = await clients(WebhooksService, 'gateway').listDeliveries(
      { applicationId, limit: 10 },
      operator,
    );
    expect(deliveries).toMatchObject([
      { state: DeliveryState.DELIVERED, event: 'applicationBooked' },
      {
        state: DeliveryState.DEAD,
        event: 'applicationApproved',
        reason: expect.stringContaining('firstPaymentDate'),
      },
    ]);
    expect(await metrics()).toContain('creditlane_webhook_backlog{state="dead"} 1');
  });

  it('is put aside when nobody can read it, and the rest goes on', async () => {
    const { received } = await world.receiver();
    const { bus, settled } = await world.start();
    const garbage = { ...world.event({ sequence: 2 }), value: Buffer.from('not protobuf') };
    const nonsense = world.event({ sequence: 3, decision: 'UNSPECIFIED' });
    await bus.publish([world.event(), garbage, nonsense, world.event({ sequence: 4 })]);
    await settled();
    expect(sequences(received)).toEqual([1, 2]);
    const { rows } = await world.sql.query('SELECT reason FROM dead_letters ORDER BY id');
    expect(rows).toEqual([
      { reason: expect.stringContaining('UndecodableEventError') },
      { reason: expect.stringContaining('no such decision') },
    ]);
  });

  it('is put aside when it names a creditor that cannot be', async () => {
    const { received } = await world.receiver();
    const { bus, settled } = await world.start();
    await bus.publish([world.event({ creditorId: 'nobody' }), world.event()]);
    await settled();
    expect(sequences(received)).toEqual([1]);
    const { rows } = await world.sql.query('SELECT reason FROM dead_letters');
    expect(rows).toEqual([{ reason: expect.stringContaining('no creditor') }]);
  });

  it('can be driven again once it can be read, unless a later decision was told', async () => {
    const { received } = await world.receiver();
    const { bus, settled } = await world.start();
    const [first, last] = [randomUUID(), randomUUID()];
    const unreadable = { decision: 'UNSPECIFIED' };
    await bus.publish([
      world.event({ eventId: first, ...unreadable }),
      world.event({ sequence: 2, decision: 'DECLINED' }),
      world.event({ eventId: last, sequence: 3, ...unreadable }),
    ]);
    await bus.publish([
      world.event({ eventId: first }),
      world.event({ eventId: last, sequence: 3 }),
    ]);
    await settled();
    expect(received.map(({ path }) => path)).toEqual([
      '/application-declined',
      '/application-booked',
    ]);
    expect(sequences(received)).toEqual([1, 2]);
  });

  it('is dead when its destination was removed before a retry', async () => {
    const { received, behave, destinationId } = await world.receiver();
    behave(answer(500));
    const { bus, settled } = await world.start({ RETRY_DELAYS: '300ms' });
    await bus.publish([world.event()]);
    await until(() => expect(received).toHaveLength(1));
    world.integrations.destinations.delete(destinationId);
    await until(async () => {
      const { rows } = await world.sql.query('SELECT state, reason FROM deliveries');
      expect(rows).toEqual([{ state: 'dead', reason: 'destination_removed' }]);
    });
    await settled();
  });
});

it('what arrived is not sent again when the database cannot write that down until its lease is over', async () => {
  const { received } = await world.receiver();
  const { bus, settled } = await world.start({ LEASE: '1s' });
  await world.sql.query(
    `CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE 'out of means' USING ERRCODE = '53000'; END $$`,
  );
  // Leases are not prolonged and results not written, but what is due can be claimed.
  await world.sql.query(
    `CREATE TRIGGER stall BEFORE UPDATE ON deliveries FOR EACH ROW
     WHEN (NEW.fence = OLD.fence OR NEW.state <> 'due') EXECUTE FUNCTION stall()`,
  );
  await bus.publish([world.event()]);
  await until(async () => {
    const { rows } = await world.sql.query('SELECT fence >= 2 AS claimed FROM deliveries');
    expect(rows).toEqual([{ claimed: true }]);
  });
  await world.sql.query('DROP TRIGGER stall ON deliveries');
  await settled();
  expect(received).toHaveLength(1);
});

describe('while the integrations service is away', () => {
  it('an event is refused, and comes again', async () => {
    const { received } = await world.receiver();
    const { bus, settled } = await world.start();
    world.integrations.state.away = true;
    await expect(bus.publish([world.event()])).rejects.toThrow('away');
    world.integrations.state.away = false;
    await bus.publish([world.event()]);
    await settled();
    expect(received).toHaveLength(1);
  });

  it('a delivery waits, and loses none of its attempts', async () => {
    const { received, behave } = await world.receiver();
    behave(answer(500));
    const { bus, settled } = await world.start({ RETRY_DELAYS: '300ms' });
    await bus.publish([world.event()]);
    await until(() => expect(received).toHaveLength(1));
    behave(answer(200));
    world.integrations.state.away = true;
    await until(async () => {
      const { rows } = await world.sql.query('SELECT fence > 2 AS returned FROM deliveries');
      expect(rows).toEqual([{ returned: true }]);
    });
    world.integrations.state.away = false;
    await until(() => expect(received).toHaveLength(2));
    await settled();
    const { rows } = await world.sql.query('SELECT state, attempts FROM deliveries');
    expect(rows).toEqual([{ state: 'delivered', attempts: 2 }]);
  });
});
