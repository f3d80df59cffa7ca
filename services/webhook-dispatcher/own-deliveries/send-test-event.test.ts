import { createHmac, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { untilWaiting } from '@creditlane/postgres/test-awaited-locks';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Egress } from '../egress/egress.ts';
import { PERMIT_MS } from '../store/rates.ts';
import {
  createTestFixture,
  type Dispatcher,
  type Receiver,
  type TestFixture,
  until,
} from '../test-fixture.ts';
import { answer, hang, startReceiver } from '../test-receiver.ts';
import { deliveriesClient, ownerOf } from './test-owner.ts';

let fixture: TestFixture;
let receiver: Receiver;
beforeEach(async () => {
  fixture = await createTestFixture();
  receiver = await fixture.addReceiver();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await fixture.close();
});

const testEvent = (status = 'BOOKED') => {
  const { retailerId, creditorId, applicationId } = fixture;
  const payload = { retailerId, status, creditorId, applicationId };
  return { event: 'applicationBooked', payload: JSON.stringify(payload) };
};

type CallOptions = { idempotencyKey?: string; signal?: AbortSignal };

const send = (dispatcher: Dispatcher, more: CallOptions = {}) =>
  deliveriesClient(dispatcher).sendTestEvent(testEvent(), { ...ownerOf(receiver), ...more });

/** Sends a test event that the receiver has got, and answers by `finish`. */
async function sendUntilPosted(dispatcher: Dispatcher, more: CallOptions = {}) {
  const responses: ServerResponse[] = [];
  receiver.respondWith((_, response) => void responses.push(response));
  const first = send(dispatcher, more);
  await until(() => expect(responses).toHaveLength(1));
  return { first, finish: (status = 204) => void responses[0]?.writeHead(status).end() };
}

/** A test event that one of two replicas has posted, and that the receiver answers by `finish`. */
async function sendToOneReplica() {
  const [dispatcher, other] = [await fixture.start(), await fixture.start()];
  const key = { idempotencyKey: 'once' };
  return { dispatcher, other, key, ...(await sendUntilPosted(dispatcher, key)) };
}

async function countAnswers(): Promise<number> {
  return (await fixture.sql.query('SELECT FROM idempotency')).rowCount ?? 0;
}

/** Makes the destination disabled by an answer 410. */
async function disable({ bus, settled }: Dispatcher): Promise<void> {
  receiver.respondWith(answer(410));
  await bus.publish([fixture.event()]);
  await settled();
  receiver.respondWith(answer(204));
  receiver.received.length = 0;
}

describe('a test event', () => {
  test('whose caller leaves before the receiver answers is recorded, and not sent again', async () => {
    const dispatcher = await fixture.start();
    const caller = new AbortController();
    const key = { idempotencyKey: 'left' };
    const posted = await sendUntilPosted(dispatcher, { ...key, signal: caller.signal });
    const left = expect(posted.first).rejects.toMatchObject({ kind: 'cancelled' });
    caller.abort();
    await left;
    posted.finish();
    await until(async () => expect(await countAnswers()).toBe(1));
    expect(await send(dispatcher, key)).toMatchObject({ succeeded: true, status: 204 });
    expect(receiver.received).toHaveLength(1);
  });

  test('is posted once, signed, marked by webhook-test, and is no delivery', async () => {
    const dispatcher = await fixture.start();
    const sent = await send(dispatcher);
    expect(sent).toMatchObject({ succeeded: true, status: 204, failure: '', enabled: false });
    const [webhook, ...others] = receiver.received;
    expect(others).toEqual([]);
    const { path, headers, body } = webhook ?? { path: '', headers: {}, body: '' };
    expect([path, body]).toEqual(['/application-booked', testEvent().payload]);
    expect(headers).toMatchObject({
      'webhook-test': 'true',
      'webhook-id': sent.webhookId,
      'webhook-sequence': '1',
      'x-service-signature': createHmac('sha256', receiver.secret).update(body).digest('hex'),
    });
    new Webhook(receiver.secret, { format: 'raw' }).verify(body, headers as Record<string, string>);
    const { rows } = await fixture.sql.query('SELECT id FROM deliveries');
    expect(rows).toEqual([]);
  });

  test.each([
    {
      what: 'an answer that is no success',
      responder: answer(500),
      deadline: '15s',
      outcome: { status: 500, failure: '' },
      minRequests: 1,
    },
    {
      what: 'no answer',
      responder: hang,
      deadline: '200ms',
      outcome: { failure: 'deadline' },
      // None is sent when the connection opens after the deadline.
      minRequests: 0,
    },
  ])(
    'with $what is not repeated, and the answer says so',
    async ({ responder, deadline, outcome, minRequests }) => {
      receiver.respondWith(responder);
      const dispatcher = await fixture.start({ DELIVERY_DEADLINE: deadline });
      const sent = await send(dispatcher);
      expect(sent).toMatchObject({ succeeded: false, enabled: false, ...outcome });
      await dispatcher.settled();
      expect(receiver.received.length).toBeGreaterThanOrEqual(minRequests);
      expect(receiver.received.length).toBeLessThanOrEqual(1);
    },
  );

  test('shows the first 2 KiB of the body of the answer', async () => {
    receiver.respondWith((_, response) => {
      response.writeHead(400).end(`the signature does not match${' '.repeat(3_000)}`);
    });
    const sent = await send(await fixture.start());
    expect(sent).toMatchObject({ succeeded: false, status: 400 });
    expect(sent.answer).toMatch(/^the signature does not match +$/);
    expect(sent.answer).toHaveLength(2_048);
  });

  test('has 15 seconds at most, also when deliveries may take a minute', async () => {
    const post = vi.spyOn(Egress.prototype, 'post');
    const dispatcher = await fixture.start({ DELIVERY_DEADLINE: '60s' });
    await send(dispatcher);
    const ownDeadlineMs = post.mock.calls[0]?.[0].ownDeadlineMs ?? Infinity;
    expect(ownDeadlineMs).toBeLessThanOrEqual(15_000);
  });

  test('goes to the URL that was set while its connection opened too slowly', async () => {
    const dispatcher = await fixture.start();
    const moved = await startReceiver();
    onTestFinished(() => moved.close());
    vi.spyOn(Egress.prototype, 'post').mockImplementationOnce(async ({ maySend }) => {
      fixture.integrations.set(receiver.destinationId, moved.url);
      await until(() => expect(maySend?.()).toBe(false));
      return undefined;
    });
    expect(await send(dispatcher)).toMatchObject({ succeeded: true });
    expect([receiver.received.length, moved.received.length]).toEqual([0, 1]);
  });

  test('to a limited destination has 15 seconds at most, together with the tries that came too late', async () => {
    fixture.integrations.limit(receiver.destinationId, 20);
    const dispatcher = await fixture.start({ DELIVERY_DEADLINE: '60s' });
    // Each connection opens when the permit has ended.
    const post = vi.spyOn(Egress.prototype, 'post').mockImplementation(async ({ maySend }) => {
      await until(() => expect(maySend?.()).toBe(false));
      return undefined;
    });
    await expect(send(dispatcher)).rejects.toMatchObject({ kind: 'unavailable' });
    const deadlinesMs = post.mock.calls.map(([{ ownDeadlineMs = Infinity }]) => ownDeadlineMs);
    expect(deadlinesMs).toHaveLength(3);
    for (const [n, deadlineMs] of deadlinesMs.entries()) {
      expect(deadlineMs).toBeLessThanOrEqual(15_000 - 0.9 * n * PERMIT_MS);
    }
  });

  test('repeated with its idempotency key is posted once', async () => {
    const dispatcher = await fixture.start();
    const first = await send(dispatcher, { idempotencyKey: 'once' });
    expect(await send(dispatcher, { idempotencyKey: 'once' })).toEqual(first);
    expect(receiver.received).toHaveLength(1);
  });

  test('is refused while another one to the same destination is under way', async () => {
    const dispatcher = await fixture.start();
    const { first, finish } = await sendUntilPosted(dispatcher);
    const refusal = { kind: 'conflict', code: 'test_event_under_way' };
    await expect(send(dispatcher)).rejects.toMatchObject(refusal);
    finish(500);
    expect((await first).succeeded).toBe(false);
    receiver.respondWith(answer(204));
    expect((await send(dispatcher)).succeeded).toBe(true);
  });

  test('is refused while another replica has one to the same destination under way; one with its key is told so, and then gets its answer', async () => {
    const { dispatcher, other, key, first, finish } = await sendToOneReplica();
    const inProgress = { kind: 'conflict', code: 'idempotency_in_progress' };
    await expect(send(other, key)).rejects.toMatchObject(inProgress);
    await expect(send(dispatcher, key)).rejects.toMatchObject(inProgress);
    const refusal = { kind: 'conflict', code: 'test_event_under_way' };
    await expect(send(other, { idempotencyKey: 'another' })).rejects.toMatchObject(refusal);
    await expect(send(other)).rejects.toMatchObject(refusal);
    finish();
    const answered = await first;
    expect(await send(other, key)).toEqual(answered);
    expect(receiver.received).toHaveLength(1);
  });

  test('repeated at another replica just when the first one ends is posted once', async () => {
    const { other, key, first, finish } = await sendToOneReplica();
    // The repetition has found no stored answer, and waits for the end of the first one's lease.
    const ending = await fixture.sql.connect();
    await ending.query('BEGIN');
    await ending.query('DELETE FROM test_event_leases');
    const repeated = send(other, key);
    await untilWaiting(fixture.sql, 1);
    finish();
    await until(async () => expect(await countAnswers()).toBe(1));
    await ending.query('COMMIT');
    ending.release();
    expect(await repeated).toEqual(await first);
    expect(receiver.received).toHaveLength(1);
  });

  test.each([
    ['has ended', '0 s'],
    ['was taken before the clock of the database was set back by an hour', '1 hour'],
  ])('is sent again once the lease of a process that has died %s', async (_, ends) => {
    const dispatcher = await fixture.start();
    await fixture.sql.query(
      `INSERT INTO test_event_leases VALUES ($1, gen_random_uuid(), now() + interval '30 s')`,
      [receiver.destinationId],
    );
    await expect(send(dispatcher)).rejects.toMatchObject({ code: 'test_event_under_way' });
    await fixture.sql.query('UPDATE test_event_leases SET leased_until = now() + $1::interval', [
      ends,
    ]);
    expect((await send(dispatcher)).succeeded).toBe(true);
    expect((await send(dispatcher)).succeeded).toBe(true);
  });

  test.each([
    ['of an unknown event', { event: 'applicationLost' }, 'invalid', 'unknown_event'],
    ['whose payload does not match its schema', { payload: '{}' }, 'internal', 'internal_error'],
  ])('%s is refused and not posted', async (_, change, kind, code) => {
    const dispatcher = await fixture.start();
    const request = { ...testEvent(), ...change };
    const sent = deliveriesClient(dispatcher).sendTestEvent(request, ownerOf(receiver));
    await expect(sent).rejects.toMatchObject({ kind, code });
    expect(receiver.received).toEqual([]);
  });

  test('of an integration without a destination is refused', async () => {
    const dispatcher = await fixture.start();
    const stranger = ownerOf({ destinationId: randomUUID() });
    const sent = deliveriesClient(dispatcher).sendTestEvent(testEvent(), stranger);
    await expect(sent).rejects.toMatchObject({ kind: 'not_found', code: 'destination_not_found' });
  });
});

describe('a disabled destination', () => {
  test('is enabled by a successful test event, and gets later webhooks and replays', async () => {
    const dispatcher = await fixture.start();
    await disable(dispatcher);
    await dispatcher.bus.publish([fixture.event({ sequence: 2 })]);
    expect((await send(dispatcher)).enabled).toBe(true);
    expect((await send(dispatcher)).enabled).toBe(false);
    receiver.received.length = 0;
    await dispatcher.bus.publish([fixture.event({ sequence: 3 })]);
    await dispatcher.settled();
    const { rows } = await fixture.sql.query('SELECT id FROM deliveries WHERE sequence = 2');
    const deliveryId = rows[0]?.id;
    await deliveriesClient(dispatcher).replayDelivery({ deliveryId }, ownerOf(receiver));
    await dispatcher.settled();
    expect(receiver.received.map(({ headers }) => headers['webhook-sequence'])).toEqual(['3', '2']);
    expect(dispatcher.logged()).toContainEqual(
      expect.objectContaining({ level: 'info', destinationId: receiver.destinationId }),
    );
  });

  test('that was set anew is enabled by that, and not by the test event that succeeds then', async () => {
    const dispatcher = await fixture.start();
    await disable(dispatcher);
    fixture.integrations.set(receiver.destinationId, receiver.url);
    expect(await send(dispatcher)).toMatchObject({ succeeded: true, enabled: false });
    const { rows } = await fixture.sql.query(
      'SELECT revision, disabled_at FROM destination_states',
    );
    expect(rows).toEqual([{ revision: 2, disabled_at: null }]);
  });

  test('stays disabled after a test event that fails', async () => {
    const dispatcher = await fixture.start();
    await disable(dispatcher);
    receiver.respondWith(answer(410));
    expect(await send(dispatcher)).toMatchObject({ succeeded: false, status: 410 });
    const { rows } = await fixture.sql.query('SELECT disabled_reason FROM destination_states');
    expect(rows).toEqual([{ disabled_reason: 'gone' }]);
  });
});

test('the success of a test event ends the failing of a destination', async () => {
  const dispatcher = await fixture.start({ RETRY_DELAYS: '1h' });
  receiver.respondWith(answer(500));
  await dispatcher.bus.publish([fixture.event()]);
  await dispatcher.settled();
  receiver.respondWith(answer(204));
  await send(dispatcher);
  const { rows } = await fixture.sql.query('SELECT failing_since FROM destination_states');
  expect(rows).toEqual([{ failing_since: null }]);
});
