import { createHmac, randomUUID } from 'node:crypto';
import { toMessage } from '@creditlane/events/message';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { aPayload, exported, SIN } from './events/test-exports.ts';
import { deliveriesClient, ownDeliveries, ownerOf } from './own-deliveries/test-owner.ts';
import {
  createTestFixture,
  sequences,
  type TestFixture,
  until,
  waitForRelease,
} from './test-fixture.ts';
import { answer, startReceiver } from './test-receiver.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

test('an export is sent to its integration alone, signed over the bytes of the body', async () => {
  const others = await fixture.addReceiver();
  const { received, secret, destinationId } = await fixture.addReceiver();
  const { bus, settled } = await fixture.start();
  await bus.publish([exported(fixture, { integrationId: destinationId })]);
  await settled();
  expect(others.received).toEqual([]);
  expect(received).toHaveLength(1);
  const { path, headers, body } = received[0] ?? expect.unreachable();
  expect(path).toBe('/application-exported');
  expect(body).toBe(JSON.stringify(aPayload(fixture)));
  const hmac = createHmac('sha256', secret).update(body).digest('hex');
  expect(headers['x-service-signature']).toBe(hmac);
});

test('an export and its replay have social insurance numbers while the integration may read them', async () => {
  const receiver = await fixture.addReceiver();
  const { received, destinationId } = receiver;
  const { sinReaders } = fixture.integrations.state;
  const { state } = fixture.applications;
  const dispatcher = await fixture.start();
  sinReaders.add(destinationId);
  await dispatcher.bus.publish([exported(fixture, { integrationId: destinationId })]);
  await dispatcher.settled();
  expect([received.length, state.askedWithSin]).toEqual([1, true]);
  sinReaders.clear();
  const [{ deliveryId } = { deliveryId: '' }] = await ownDeliveries(dispatcher, receiver);
  await deliveriesClient(dispatcher).replayDelivery({ deliveryId }, ownerOf(receiver));
  await until(() => expect([received.length, state.askedWithSin]).toEqual([2, false]));
});

test('an export to an integration whose destination was removed is sent to nobody', async () => {
  const other = await fixture.addReceiver();
  const removed = await fixture.addReceiver();
  const { bus, settled } = await fixture.start();
  fixture.integrations.destinations.delete(removed.destinationId);
  await bus.publish([exported(fixture, { integrationId: removed.destinationId })]);
  await settled();
  expect([...other.received, ...removed.received]).toEqual([]);
  const { rows } = await fixture.sql.query('SELECT id FROM deliveries');
  expect(rows).toEqual([]);
});

test('exports and decisions of an application are sent in the order of their arrival and numbered together', async () => {
  const { received, destinationId, respondWith } = await fixture.addReceiver();
  let refusals = 2;
  respondWith((_, response) => {
    refusals -= 1;
    response.writeHead(refusals >= 0 ? 500 : 204).end();
  });
  const { bus } = await fixture.start();
  await bus.publish([fixture.event({ sequence: 1 })]);
  await bus.publish([exported(fixture, { integrationId: destinationId })]);
  await bus.publish([fixture.event({ sequence: 2, decision: 'DECLINED' })]);
  await until(() => expect(sequences(received)).toEqual([1, 1, 1, 2, 3]));
  expect(received.slice(2).map(({ path }) => path)).toEqual([
    '/application-booked',
    '/application-exported',
    '/application-declined',
  ]);
});

test.each([
  ['the same creditor', 2],
  ['another creditor', 1],
])(
  'an export to %s waits for the decision of its application that another process takes in meanwhile',
  async (to, sequence) => {
    const { destinationId, respondWith } = await fixture.addReceiver();
    respondWith(answer(500));
    const settings = { RETRY_DELAYS: '1h', DATABASE_STATEMENT_TIMEOUT: '1min' };
    const dispatchers = [await fixture.start(settings), await fixture.start(settings)] as const;
    const { applicationId, creditorId, sql } = fixture;
    const stored = async (): Promise<object[]> =>
      (await sql.query('SELECT sequence::int, state FROM deliveries ORDER BY position')).rows;
    const blockedOrStored = async () => (await countBlocked()) + (await stored()).length;

    // Keeps the decision's transaction between its reads and its commit.
    const holder = await sql.connect();
    await holder.query('BEGIN');
    await holder.query('INSERT INTO submissions VALUES ($1, $2, 0)', [applicationId, creditorId]);
    const decision = dispatchers[0].bus.publish([fixture.event({ sequence: 1 })]);
    await expect.poll(blockedOrStored).toBe(1);
    const creditor = to === 'the same creditor' ? creditorId : randomUUID();
    const ofExport = exported(fixture, { integrationId: destinationId, creditorId: creditor });
    const taken = Promise.all([decision, dispatchers[1].bus.publish([ofExport])]);
    await expect.poll(blockedOrStored).toBe(2);
    await holder.query('ROLLBACK');
    holder.release();
    await taken;
    expect(await stored()).toEqual([
      { sequence: 1, state: 'due' },
      { sequence, state: 'waiting' },
    ]);
  },
);

/** How many connections wait for a lock of another one. */
async function countBlocked(): Promise<number> {
  const { rows } = await fixture.sql.query(
    `SELECT count(*)::int AS blocked FROM pg_stat_activity
     WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`,
  );
  return rows[0].blocked;
}

test('every attempt has the same bytes, and neither the database nor the log has the content', async () => {
  const { received, destinationId, respondWith } = await fixture.addReceiver();
  respondWith(({ body }, response) => void response.writeHead(500).end(body));
  const { bus, logged } = await fixture.start();
  await bus.publish([exported(fixture, { integrationId: destinationId })]);
  await until(() => expect(received.length).toBeGreaterThan(2));
  const bodies = new Set(received.map(({ body }) => body));
  expect([...bodies]).toEqual([expect.stringContaining(SIN)]);
  const { rows } = await fixture.sql.query(
    `SELECT (SELECT json_agg(m) FROM messages AS m)::text || (SELECT json_agg(d) FROM deliveries AS d)::text
       || (SELECT json_agg(a) FROM attempts AS a)::text AS text,
       (SELECT count(*)::int FROM attempt_answers) AS answers`,
  );
  expect(rows[0].answers).toBe(0);
  const stored = rows[0].text + JSON.stringify(logged());
  expect(stored).toContain('applicationExported');
  for (const secret of [SIN, 'Tremblay', '1988-07-14']) expect(stored).not.toContain(secret);
});

test.each(['export_deleted', 'export_unreadable'])(
  'a delivery whose export is lost is dead with the reason %s, and the next is sent',
  async (code) => {
    const { received, destinationId } = await fixture.addReceiver();
    const { bus, settled } = await fixture.start();
    await bus.publish([exported(fixture, { integrationId: destinationId, faultCode: code })]);
    await bus.publish([fixture.event()]);
    await settled();
    expect(received.map(({ path }) => path)).toEqual(['/application-booked']);
    const { rows } = await fixture.sql.query(
      'SELECT state, reason FROM deliveries ORDER BY position',
    );
    expect(rows).toEqual([
      { state: 'dead', reason: code },
      { state: 'delivered', reason: null },
    ]);
  },
);

test('a delivery waits while the applications service is unavailable, and no attempt is counted', async () => {
  const { received, destinationId } = await fixture.addReceiver();
  const { bus, settled } = await fixture.start();
  fixture.applications.state.isUnavailable = true;
  await bus.publish([exported(fixture, { integrationId: destinationId })]);
  await waitForRelease(fixture);
  const attempts = await fixture.sql.query('SELECT FROM attempts');
  expect([received, attempts.rows]).toEqual([[], []]);
  fixture.applications.state.isUnavailable = false;
  await until(() => expect(received).toHaveLength(1));
  await settled();
});

test('a delivery whose content cannot be asked for keeps the later ones of its lane waiting for the hold at most', async () => {
  const { received, destinationId } = await fixture.addReceiver();
  const { bus, settled } = await fixture.start({ ORDER_HOLD: '500ms' });
  fixture.applications.state.isUnavailable = true;
  await bus.publish([exported(fixture, { integrationId: destinationId })]);
  await bus.publish([fixture.event({ sequence: 1 })]);
  await until(() => expect(sequences(received)).toEqual([2]));
  fixture.applications.state.isUnavailable = false;
  await until(() => expect(sequences(received)).toEqual([2, 1]));
  await settled();
});

test('a delivery whose destination cannot be looked up holds its lane for as long as that lasts', async () => {
  const { received } = await fixture.addReceiver();
  const { bus, settled } = await fixture.start({ ORDER_HOLD: '100ms' });
  const { integrations } = fixture;
  integrations.state.hidesDestinations = true;
  await bus.publish([fixture.event({ sequence: 1 })]);
  await waitForRelease(fixture);
  const { rows } = await fixture.sql.query('SELECT hold_until FROM deliveries');
  expect(rows).toEqual([{ hold_until: null }]);
  await bus.publish([fixture.event({ sequence: 2 })]);
  integrations.state.hidesDestinations = false;
  await until(() => expect(sequences(received)).toEqual([1, 2]));
  await settled();
});

describe('an export whose content the applications service took long to give', () => {
  test('is not sent with social insurance numbers that the integration may not read any more', async () => {
    const { received, destinationId } = await fixture.addReceiver();
    const { sinReaders } = fixture.integrations.state;
    sinReaders.add(destinationId);
    await changeBeforeContent(destinationId, () => sinReaders.clear());
    expect([received.length, fixture.applications.state.askedWithSin]).toEqual([1, false]);
  });

  /** Publishes an export to the destination, and makes the change after the destination was looked up. */
  async function changeBeforeContent(destinationId: string, change: () => void): Promise<void> {
    const { bus } = await fixture.start();
    const { state } = fixture.applications;
    const content = Promise.withResolvers<void>();
    state.answering = content.promise;
    await bus.publish([exported(fixture, { integrationId: destinationId })]);
    await until(() => expect(state.asked).toBe(1));
    change();
    const nowMs = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs() + 1_000);
    onTestFinished(() => clock.mockRestore());
    content.resolve();
    const ended = `SELECT FROM deliveries WHERE storage = 'ended'`;
    await until(async () => expect((await fixture.sql.query(ended)).rowCount).toBe(1));
  }

  test('is not sent to a destination that was removed meanwhile', async () => {
    const { received, destinationId } = await fixture.addReceiver();
    const { destinations } = fixture.integrations;
    await changeBeforeContent(destinationId, () => void destinations.delete(destinationId));
    expect(received).toEqual([]);
    const { rows } = await fixture.sql.query('SELECT reason FROM deliveries');
    expect(rows).toEqual([{ reason: 'destination_removed' }]);
  });

  test('is sent to the URL that the destination was set to meanwhile, and not to the one before', async () => {
    const { received, destinationId } = await fixture.addReceiver();
    const moved = await startReceiver();
    onTestFinished(() => moved.close());
    const { integrations } = fixture;
    await changeBeforeContent(destinationId, () => integrations.set(destinationId, moved.url));
    expect(received).toEqual([]);
    expect(moved.received).toHaveLength(1);
  });
});

test('an export that does not match its schema is dead, and the reason names no value', async () => {
  const { received, destinationId } = await fixture.addReceiver();
  const { bus, settled } = await fixture.start();
  const payload = aPayload(fixture);
  const { primaryApplicant } = payload;
  await bus.publish([
    exported(fixture, {
      integrationId: destinationId,
      payload: { ...payload, primaryApplicant: { ...primaryApplicant, [SIN]: SIN } },
    }),
  ]);
  await settled();
  expect(received).toEqual([]);
  const { rows } = await fixture.sql.query('SELECT state, reason FROM deliveries');
  expect(rows).toEqual([
    { state: 'dead', reason: expect.stringContaining('payload_unfit: /primaryApplicant') },
  ]);
  expect(rows[0].reason).not.toContain(SIN);
});

test('a submission, which comes in the same topic, makes no webhook and no dead letter', async () => {
  const { received } = await fixture.addReceiver();
  const { bus, settled } = await fixture.start();
  const { retailerId, creditorId, applicationId } = fixture;
  const time = new Date();
  await bus.publish([
    toMessage(
      {
        id: randomUUID(),
        topic: 'creditlane.applications.v1',
        key: applicationId,
        type: 'creditlane.applications.v1.ApplicationSubmitted',
        payload: { applicationId, creditorId, retailerId, submittedAt: time.toISOString() },
        time,
      },
      'applications',
    ),
  ]);
  await settled();
  expect(received).toEqual([]);
  expect((await fixture.sql.query('SELECT FROM dead_letters')).rows).toEqual([]);
});
