import { randomUUID } from 'node:crypto';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { OpenBreakers } from '../queue/open-breakers.ts';
import {
  createTestFixture,
  type Dispatcher,
  type Receiver,
  sequences,
  type TestFixture,
  until,
} from '../test-fixture.ts';
import { answer } from '../test-receiver.ts';
import { deliveriesClient, ownerOf } from './test-owner.ts';

let fixture: TestFixture;
let owned: Receiver;
beforeEach(async () => {
  fixture = await createTestFixture();
  owned = await fixture.addReceiver();
});
afterEach(() => fixture.close());

const event = (sequence: number, applicationId?: string) =>
  fixture.event({ sequence, ...(applicationId && { applicationId }) });

/** The calls of the owner. */
function ownerAt(dispatcher: Dispatcher, { destinationId } = owned) {
  const client = deliveriesClient(dispatcher);
  const owner = ownerOf({ destinationId });
  return {
    read: async () => (await client.getOwnDestination({}, owner)).destination,
    pause: async (hours = 1) => (await client.pauseOwnDestination({ hours }, owner)).destination,
    resume: async () => (await client.resumeOwnDestination({}, owner)).destination,
  };
}

/** Resolves when the dispatcher counts so many paused destinations. */
const untilPaused = (dispatcher: Dispatcher, count: number) =>
  until(async () =>
    expect(await dispatcher.metrics()).toContain(`webhook_breakers{state="paused"} ${count}`),
  );

/** As if the pause after the failed probe had passed, which there is once it is stored. */
const endProbePause = () =>
  until(async () => {
    const { rowCount } = await fixture.sql.query(
      'UPDATE open_breakers SET probe_at = now() WHERE probe_id IS NULL AND failures > 0',
    );
    expect(rowCount).toBe(1);
  });

/** Resolves when so many deliveries are due and not leased. */
const untilWaiting = (count: number) =>
  until(async () => {
    const { rows } = await fixture.sql.query(
      `SELECT count(*)::int FROM deliveries WHERE state = 'due' AND NOT leased`,
    );
    expect(rows).toEqual([{ count }]);
  });

test('a paused destination gets nothing, and what waited in order once it is resumed', async () => {
  const dispatcher = await fixture.start();
  await ownerAt(dispatcher).pause();
  await untilPaused(dispatcher, 1);
  await dispatcher.bus.publish([event(1), event(2)]);
  await untilWaiting(1);
  expect(owned.received).toEqual([]);

  expect((await ownerAt(dispatcher).resume())?.pausedUntil).toBeUndefined();
  await dispatcher.settled();
  expect(sequences(owned.received)).toEqual([1, 2]);
  await untilPaused(dispatcher, 0);
});

test('a pause ends by itself', async () => {
  const dispatcher = await fixture.start();
  await ownerAt(dispatcher).pause();
  await untilPaused(dispatcher, 1);
  await dispatcher.bus.publish([event(1)]);
  await untilWaiting(1);
  await fixture.sql.query(`UPDATE open_breakers SET paused_until = now(), probe_at = now()`);
  await dispatcher.settled();
  expect(sequences(owned.received)).toEqual([1]);
});

test('a destination to which nothing was due since its pause does not count as one that fails', async () => {
  const dispatcher = await fixture.start();
  await ownerAt(dispatcher).pause();
  await untilPaused(dispatcher, 1);
  await ownerAt(dispatcher).resume();
  await untilPaused(dispatcher, 0);
  expect(await dispatcher.metrics()).toContain('webhook_breakers{state="open"} 0');
  await dispatcher.bus.publish([event(1)]);
  await dispatcher.settled();
  expect(sequences(owned.received)).toEqual([1]);
});

test('a pause lasts for its hours by the clock of the database, whatever that of the replica', async () => {
  const dispatcher = await fixture.start();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 2 * 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect((await ownerAt(dispatcher).pause(1))?.pausedUntil).toBeDefined();
  await untilPaused(dispatcher, 1);
});

test('the success of a request that was under way does not end a pause', async () => {
  const dispatcher = await fixture.start();
  owned.respondWith(async (_, response) => {
    await ownerAt(dispatcher).pause();
    await untilPaused(dispatcher, 1);
    response.writeHead(204).end();
  });
  await dispatcher.bus.publish([event(1), event(2)]);
  await untilWaiting(1);
  await untilPaused(dispatcher, 1);
  expect(owned.received).toHaveLength(1);
});

test('a pause that is repeated with its key after a resumption does not pause again', async () => {
  const client = deliveriesClient(await fixture.start());
  const owner = { ...ownerOf(owned), idempotencyKey: 'pause' };
  const paused = await client.pauseOwnDestination({ hours: 1 }, owner);
  await client.resumeOwnDestination({}, { ...ownerOf(owned), idempotencyKey: 'resume' });
  expect(await client.pauseOwnDestination({ hours: 1 }, owner)).toEqual(paused);
  const { destination } = await client.getOwnDestination({}, ownerOf(owned));
  expect(destination?.pausedUntil).toBeUndefined();
  await expect(client.pauseOwnDestination({ hours: 2 }, owner)).rejects.toMatchObject({
    code: 'idempotency_key_reused',
  });
});

test('a pause and a resumption asked of one replica hold for another', async () => {
  const [asked, other] = [await fixture.start(), await fixture.start()];
  await ownerAt(asked).pause();
  for (const dispatcher of [asked, other]) await untilPaused(dispatcher, 1);
  const [first, second] = [randomUUID(), randomUUID()];
  await other.bus.publish([event(1, first), event(2, first), event(1, second)]);
  await asked.bus.publish([event(3, first), event(2, second)]);
  await untilWaiting(2);
  expect(owned.received).toEqual([]);

  await ownerAt(other).resume();
  for (const dispatcher of [asked, other]) await dispatcher.settled();
  const received = (applicationId: string) =>
    sequences(
      owned.received.filter(({ body }) => JSON.parse(body).applicationId === applicationId),
    );
  expect([received(first), received(second)]).toEqual([
    [1, 2, 3],
    [1, 2],
  ]);
});

test('a pause lasts over a restart', async () => {
  const before = await fixture.start();
  await ownerAt(before).pause();
  await before.close();
  const dispatcher = await fixture.start();
  await untilPaused(dispatcher, 1);
  await dispatcher.bus.publish([event(1)]);
  await untilWaiting(1);
  expect(owned.received).toEqual([]);
});

test('a replica that starts knows the pauses before it sends anything', async () => {
  const order: string[] = [];
  const { replace } = OpenBreakers.prototype;
  vi.spyOn(OpenBreakers.prototype, 'replace').mockImplementation(function (
    this: OpenBreakers,
    stored,
  ) {
    order.push('pauses read');
    return replace.call(this, stored);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const holder = await fixture.sql.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE open_breakers');
  const starting = fixture.start().then(() => void order.push('started'));
  await until(async () => {
    const { rows } = await fixture.sql.query(
      `SELECT FROM pg_locks WHERE relation = 'open_breakers'::regclass AND NOT granted`,
    );
    expect(rows).not.toEqual([]);
  });
  await holder.query('ROLLBACK');
  holder.release();
  await starting;
  expect(order[0]).toBe('pauses read');
});

test('a replay waits for the end of a pause, and a test event does not', async () => {
  const dispatcher = await fixture.start();
  await dispatcher.bus.publish([event(1)]);
  await dispatcher.settled();
  await ownerAt(dispatcher).pause();
  await untilPaused(dispatcher, 1);
  const client = deliveriesClient(dispatcher);
  const { deliveries } = await client.listOwnDeliveries({ limit: 1 }, ownerOf(owned));
  const deliveryId = deliveries[0]?.deliveryId ?? '';
  await client.replayDelivery({ deliveryId }, ownerOf(owned));
  await untilWaiting(1);
  const { retailerId, creditorId, applicationId } = fixture;
  const payload = JSON.stringify({ retailerId, creditorId, applicationId, status: 'BOOKED' });
  const sent = await client.sendTestEvent({ event: 'applicationBooked', payload }, ownerOf(owned));
  expect(sent.succeeded).toBe(true);
  await untilPaused(dispatcher, 1);
  expect(owned.received.map(({ headers }) => headers['webhook-test'])).toEqual([undefined, 'true']);

  await ownerAt(dispatcher).resume();
  await dispatcher.settled();
  expect(owned.received).toHaveLength(3);
});

test('the time without a success, after which a destination is disabled, begins anew with the end of a pause', async () => {
  owned.respondWith(answer(500));
  const settings = { RETRY_DELAYS: '1ms', DISABLE_AFTER: '1h' };
  const dispatcher = await fixture.start(settings);
  await fixture.sql.query(
    `INSERT INTO destination_states (destination_id, failing_since) VALUES ($1, now() - interval '2 days')`,
    [owned.destinationId],
  );
  await ownerAt(dispatcher).pause();
  await untilPaused(dispatcher, 1);
  await dispatcher.bus.publish([event(1)]);
  await untilWaiting(1);
  await ownerAt(dispatcher).resume();
  await endProbePause();
  await dispatcher.settled();
  expect(await ownerAt(dispatcher).read()).toMatchObject({ disabledReason: '' });

  await dispatcher.close();
  await fixture.sql.query(`UPDATE open_breakers SET paused_until = now() - interval '2 hours'`);
  const later = await fixture.start(settings);
  await until(async () =>
    expect(await later.metrics()).toContain('webhook_breakers{state="open"} 1'),
  );
  await later.bus.publish([event(2)]);
  await endProbePause();
  await later.settled();
  expect(await ownerAt(later).read()).toMatchObject({ disabledReason: 'no_success' });
});

test('the owner sees the URL, the end of the pause, and the health of the destination', async () => {
  const dispatcher = await fixture.start();
  const { destinationId, url } = owned;
  const seen = await ownerAt(dispatcher).read();
  expect(seen).toMatchObject({ destinationId, url, disabledReason: '' });
  expect(seen?.lastSuccessAt).toBeUndefined();
  await dispatcher.bus.publish([event(1)]);
  await dispatcher.settled();
  expect((await ownerAt(dispatcher).read())?.lastSuccessAt).toBeDefined();

  const startedMs = Date.now();
  const { pausedUntil } = (await ownerAt(dispatcher).pause(72)) ?? {};
  const hours = pausedUntil && (timestampDate(pausedUntil).getTime() - startedMs) / 3_600_000;
  expect(hours).toBeGreaterThanOrEqual(72);
  expect(hours).toBeLessThan(72.1);
  expect(await ownerAt(dispatcher).read()).toMatchObject({ pausedUntil });

  owned.respondWith(answer(410));
  await ownerAt(dispatcher).resume();
  await dispatcher.bus.publish([event(2)]);
  await dispatcher.settled();
  const disabled = await ownerAt(dispatcher).read();
  expect(disabled).toMatchObject({ disabledReason: 'gone' });
  expect(disabled?.disabledAt).toBeDefined();
  fixture.integrations.set(destinationId, url);
  expect(await ownerAt(dispatcher).read()).toMatchObject({ disabledReason: '' });
});

test('the owner sees the success of a test event at a destination that nothing was sent to before', async () => {
  const dispatcher = await fixture.start();
  const { retailerId, creditorId, applicationId } = fixture;
  const payload = JSON.stringify({ retailerId, status: 'BOOKED', creditorId, applicationId });
  const request = { event: 'applicationBooked', payload };
  await deliveriesClient(dispatcher).sendTestEvent(request, ownerOf(owned));
  const seen = await ownerAt(dispatcher).read();
  expect(seen?.lastSuccessAt).toBeDefined();
  expect(seen).toMatchObject({ disabledReason: '' });
});

test('the owner sees which webhooks the destination gets', async () => {
  const dispatcher = await fixture.start();
  fixture.integrations.state.eventFilters.set(owned.destinationId, ['applicationBooked']);
  expect(await ownerAt(dispatcher).read()).toMatchObject({ events: ['applicationBooked'] });
  fixture.integrations.limit(owned.destinationId, 20);
  expect(await ownerAt(dispatcher).read()).toMatchObject({ deliveriesPerSecond: 20 });
});

test('an integration without a destination has none to read, pause or resume', async () => {
  const dispatcher = await fixture.start();
  const nobody = ownerAt(dispatcher, { ...owned, destinationId: randomUUID() });
  const notFound = { kind: 'not_found', code: 'destination_not_found' };
  await expect(nobody.read()).rejects.toMatchObject(notFound);
  await expect(nobody.pause()).rejects.toMatchObject(notFound);
  await expect(nobody.resume()).rejects.toMatchObject(notFound);
});
