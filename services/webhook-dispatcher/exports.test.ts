import { createHmac, randomUUID } from 'node:crypto';
import { toMessage } from '@creditlane/events/message';
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deliveriesClient, ownDeliveries, ownerOf } from './own-deliveries/test-owner.ts';
import {
  createTestFixture,
  type Dispatcher,
  type Receiver,
  sequences,
  type TestFixture,
  until,
  waitForRelease,
} from './test-fixture.ts';
import { answer } from './test-receiver.ts';

const SIN = '046454286';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

/** The least that the payload's schema permits. */
function aPayload() {
  const { retailerId, creditorId, applicationId } = fixture;
  return {
    retailerId,
    applicationId,
    creditorId,
    primaryApplicant: {
      firstName: 'Maya',
      lastName: 'Tremblay',
      sin: SIN,
      dateOfBirth: '1988-07-14',
      addressHistory: [],
      employmentHistory: [],
    },
    coApplicant: null,
    relationship: null,
    worksheet: {
      drivingDistancePerYear: null,
      tradeIn: null,
      dealerAdminFee: null,
      gpsFee: null,
      licenseFee: null,
      installationDeliveryFee: null,
      ahInsuranceFee: null,
      lifeInsuranceFee: null,
      gapInsurance: null,
      extServiceContract: null,
      firstPaymentDate: '2027-01-15',
      interestRate: 7.49,
      frequency: 'BI_WEEKLY',
    },
  };
}

/** An event about an export to an integration; the applications service has its payload. */
function exported(
  integrationId: string,
  payload: object | string = aPayload(),
  creditorId = fixture.creditorId,
) {
  const { retailerId, applicationId, applications } = fixture;
  const exportId = randomUUID();
  applications.exports.set(exportId, payload);
  const time = new Date();
  return toMessage(
    {
      id: exportId,
      topic: 'creditlane.applications.v1',
      key: applicationId,
      type: 'creditlane.applications.v1.ApplicationExported',
      payload: {
        exportId,
        applicationId,
        creditorId,
        retailerId,
        integrationId,
        exportedAt: time.toISOString(),
      },
      time,
    },
    'applications',
  );
}

test('an export is sent to its integration alone, signed over the bytes of the body', async () => {
  const others = await fixture.addReceiver();
  const { received, secret, destinationId } = await fixture.addReceiver();
  const { bus, settled } = await fixture.start();
  await bus.publish([exported(destinationId)]);
  await settled();
  expect(others.received).toEqual([]);
  expect(received).toHaveLength(1);
  const { path, headers, body } = received[0] ?? expect.unreachable();
  expect(path).toBe('/application-exported');
  expect(body).toBe(JSON.stringify(aPayload()));
  const hmac = createHmac('sha256', secret).update(body).digest('hex');
  expect(headers['x-service-signature']).toBe(hmac);
});

test('an export to an integration whose destination was removed is sent to nobody', async () => {
  const other = await fixture.addReceiver();
  const removed = await fixture.addReceiver();
  const { bus, settled } = await fixture.start();
  fixture.integrations.destinations.delete(removed.destinationId);
  await bus.publish([exported(removed.destinationId)]);
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
  await bus.publish([exported(destinationId)]);
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
    const ofExport = exported(destinationId, aPayload(), creditor);
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
  respondWith(answer(500));
  const { bus, logged } = await fixture.start();
  await bus.publish([exported(destinationId)]);
  await until(() => expect(received.length).toBeGreaterThan(2));
  const bodies = new Set(received.map(({ body }) => body));
  expect([...bodies]).toEqual([expect.stringContaining(SIN)]);
  const { rows } = await fixture.sql.query(
    `SELECT (SELECT json_agg(m) FROM messages AS m)::text || (SELECT json_agg(d) FROM deliveries AS d)::text
       || (SELECT json_agg(a) FROM attempts AS a)::text AS text`,
  );
  const stored = rows[0].text + JSON.stringify(logged());
  expect(stored).toContain('applicationExported');
  for (const secret of [SIN, 'Tremblay', '1988-07-14']) expect(stored).not.toContain(secret);
});

test.each(['export_deleted', 'export_unreadable'])(
  'a delivery whose export is lost is dead with the reason %s, and the next is sent',
  async (code) => {
    const { received, destinationId } = await fixture.addReceiver();
    const { bus, settled } = await fixture.start();
    await bus.publish([exported(destinationId, code)]);
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
  await bus.publish([exported(destinationId)]);
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
  await bus.publish([exported(destinationId)]);
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

test('an export that does not match its schema is dead, and the reason names no value', async () => {
  const { received, destinationId } = await fixture.addReceiver();
  const { bus, settled } = await fixture.start();
  const payload = aPayload();
  const { primaryApplicant } = payload;
  await bus.publish([
    exported(destinationId, { ...payload, primaryApplicant: { ...primaryApplicant, [SIN]: SIN } }),
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

describe('an export of which the integration has lost its grants', () => {
  let receiver: Receiver;
  let dispatcher: Dispatcher;
  const deliveryId = async () => {
    const [delivery] = await ownDeliveries(dispatcher, receiver);
    return delivery?.deliveryId ?? expect.unreachable();
  };
  const replayOne = async () =>
    deliveriesClient(dispatcher).replayDelivery(
      { deliveryId: await deliveryId() },
      ownerOf(receiver),
    );
  const replayAll = (state: DeliveryState) =>
    deliveriesClient(dispatcher).replayDeliveries({ filter: { state } }, ownerOf(receiver));
  const withdraw = () => fixture.integrations.state.withoutGrants.add(receiver.destinationId);
  const stored = async (): Promise<object[]> => {
    const { rows } = await fixture.sql.query('SELECT state, reason, replays FROM deliveries');
    return rows;
  };

  /** Exports to the receiver, and forgets the requests once the delivery has ended in the state. */
  async function endExport(state: 'dead' | 'delivered') {
    receiver = await fixture.addReceiver();
    if (state === 'dead') receiver.respondWith(answer(500));
    dispatcher = await fixture.start({ RETRY_DELAYS: '20ms' });
    await dispatcher.bus.publish([exported(receiver.destinationId)]);
    await until(async () => expect(await stored()).toMatchObject([{ state }]));
    receiver.respondWith(answer(204));
    receiver.received.length = 0;
  }

  test.each(['dead', 'delivered'] as const)(
    'is not replayed alone when it is %s, until there is a grant again',
    async (state) => {
      await endExport(state);
      withdraw();
      await expect(replayOne()).rejects.toMatchObject({ kind: 'conflict', code: 'grant_missing' });
      await dispatcher.settled();
      expect(receiver.received).toEqual([]);
      expect(await stored()).toMatchObject([{ state, replays: 0 }]);
      fixture.integrations.state.withoutGrants.clear();
      await replayOne();
      await dispatcher.settled();
      expect(receiver.received).toMatchObject([{ body: expect.stringContaining(SIN) }]);
    },
  );

  test.each(['dead', 'delivered'] as const)(
    'is not sent by a replay of many that are %s, and is dead with the reason',
    async (state) => {
      await endExport(state);
      withdraw();
      await replayAll(state === 'dead' ? DeliveryState.DEAD : DeliveryState.DELIVERED);
      const withheld = { state: 'dead', reason: 'grant_missing', replays: 1 };
      await until(async () => expect(await stored()).toEqual([withheld]));
      expect(receiver.received).toEqual([]);
      fixture.integrations.state.withoutGrants.clear();
      // The first replay may not have ended.
      await until(() => replayAll(DeliveryState.DEAD));
      await until(() => expect(receiver.received).toHaveLength(1));
    },
  );

  test('is not sent when the grants are withdrawn after the request for the replay', async () => {
    await endExport('dead');
    fixture.applications.state.isUnavailable = true;
    await replayOne();
    withdraw();
    fixture.applications.state.isUnavailable = false;
    const withheld = { state: 'dead', reason: 'grant_missing', replays: 1 };
    await until(async () => expect(await stored()).toEqual([withheld]));
    expect(receiver.received).toEqual([]);
  });

  test('can be replayed while the applications service hangs, and is not sent', async () => {
    await endExport('dead');
    const hanging = Promise.withResolvers<void>();
    fixture.applications.state.answering = hanging.promise;
    const context = { ...ownerOf(receiver), deadlineMs: Date.now() + 5_000 };
    await deliveriesClient(dispatcher).replayDelivery({ deliveryId: await deliveryId() }, context);
    withdraw();
    hanging.resolve();
    const withheld = { state: 'dead', reason: 'grant_missing', replays: 1 };
    await until(async () => expect(await stored()).toEqual([withheld]));
    expect(receiver.received).toEqual([]);
  });

  test('is not sent while the grants cannot be looked up, and is sent when they are found to be there', async () => {
    await endExport('dead');
    const { applications, integrations } = fixture;
    applications.state.isUnavailable = true;
    await replayOne();
    integrations.state.maxPairs = 0;
    applications.state.isUnavailable = false;
    await until(() => expect(integrations.state.refusedCalls).toBeGreaterThan(1));
    expect([receiver.received, await stored()]).toMatchObject([[], [{ state: 'due' }]]);
    integrations.state.maxPairs = 250;
    await until(() => expect(receiver.received).toHaveLength(1));
  });

  test('is sent when the grants are withdrawn before its first series of attempts has ended', async () => {
    receiver = await fixture.addReceiver();
    receiver.respondWith(answer(500));
    dispatcher = await fixture.start({ RETRY_DELAYS: '1h' });
    await dispatcher.bus.publish([exported(receiver.destinationId)]);
    await until(async () => expect(receiver.received).toHaveLength(1));
    withdraw();
    receiver.respondWith(answer(204));
    const { findRecipientsCalls } = fixture.integrations.state;
    await until(replayOne);
    await until(() => expect(receiver.received).toHaveLength(2));
    await dispatcher.settled();
    expect(fixture.integrations.state.findRecipientsCalls).toBe(findRecipientsCalls);
  });
});
