import { randomUUID } from 'node:crypto';
import { runQuery } from '@creditlane/postgres/statement';
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deliveriesClient, ownDeliveries, ownerOf } from '../own-deliveries/test-owner.ts';
import { Backlog } from '../queue/backlog.ts';
import type { LeasedDelivery } from '../queue/delivery.ts';
import { DeliveryQueue } from '../queue/delivery-queue.ts';
import { OpenBreakers } from '../queue/open-breakers.ts';
import { DestinationRates } from '../queue/rates/destination-rates.ts';
import { promoteNextQuery } from '../store/pending/lanes.ts';
import {
  insertDeliveries,
  insertDelivery,
  readStates,
  type TestDelivery,
} from '../test-deliveries.ts';
import { createTestFixture, sequences, type TestFixture, until, upTo } from '../test-fixture.ts';
import { answer, startReceiver } from '../test-receiver.ts';
import { endPending } from './end-pending.ts';

const DISABLED = 'creditlane_webhook_disabled_destinations';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

const statesOfDeliveries = () => readStates(fixture);

test('a destination that answers 410 gets no further webhook', async () => {
  const { received, respondWith } = await fixture.addReceiver();
  respondWith(answer(410));
  const { bus, settled } = await fixture.start();
  await bus.publish(upTo(3).map((sequence) => fixture.event({ sequence })));
  await settled();
  await bus.publish([fixture.event({ sequence: 4 })]);
  await settled();
  expect(received).toHaveLength(1);
  const disabled = 'dead: destination_disabled';
  expect(await statesOfDeliveries()).toEqual(['dead: gone', disabled, disabled, disabled]);
});

test('a disabled destination is in the log, the metrics and the list of deliveries', async () => {
  const receiver = await fixture.addReceiver();
  const { respondWith, destinationId } = receiver;
  const dispatcher = await fixture.start();
  const { bus, settled, metrics, logged } = dispatcher;
  expect(await metrics()).toContain(`${DISABLED} 0`);
  respondWith(answer(410));
  await bus.publish([fixture.event()]);
  await settled();
  expect(await metrics()).toContain(`${DISABLED} 1`);
  expect(logged()).toContainEqual(
    expect.objectContaining({ level: 'warn', destinationId, reason: 'gone' }),
  );
  expect(await ownDeliveries(dispatcher, receiver)).toMatchObject([
    { state: DeliveryState.DEAD, reason: 'gone', destinationDisabledReason: 'gone' },
  ]);
});

test('a pending delivery that is dead because its destination is disabled has no next attempt', async () => {
  const receiver = await fixture.addReceiver();
  const { respondWith } = receiver;
  respondWith(answer(500));
  const dispatcher = await fixture.start({ RETRY_DELAYS: '1h' });
  const { bus, settled } = dispatcher;
  await bus.publish([fixture.event()]);
  await settled();
  respondWith(answer(410));
  await bus.publish([fixture.event({ applicationId: randomUUID() })]);
  await settled();
  const { applicationId } = fixture;
  const list = () => ownDeliveries(dispatcher, receiver, { applicationId });
  const dead = { state: DeliveryState.DEAD, reason: 'destination_disabled' };
  await expect.poll(list).toMatchObject([dead]);
  expect((await list())[0]?.nextAttemptAt).toBeUndefined();
});

test('a disabled destination that is set to a new URL gets later webhooks', async () => {
  const receiver = await fixture.addReceiver();
  const { respondWith, destinationId } = receiver;
  respondWith(answer(410));
  const dispatcher = await fixture.start();
  const { bus, settled, metrics } = dispatcher;
  await bus.publish([fixture.event()]);
  await settled();
  const moved = await startReceiver();
  fixture.integrations.set(destinationId, moved.url);
  await bus.publish([fixture.event({ sequence: 2 }), fixture.event({ sequence: 3 })]);
  await settled();
  expect(sequences(moved.received)).toEqual([2, 3]);
  expect(await metrics()).toContain(`${DISABLED} 0`);
  const deliveries = await ownDeliveries(dispatcher, receiver);
  expect(deliveries.map((one) => one.destinationDisabledReason)).toEqual(['', '', '']);
  await moved.close();
});

test('the deliveries to a disabled destination that was set anew say at once that it is enabled', async () => {
  const receiver = await fixture.addReceiver();
  const { respondWith, destinationId, url } = receiver;
  respondWith(answer(410));
  const dispatcher = await fixture.start();
  await dispatcher.bus.publish([fixture.event()]);
  await dispatcher.settled();
  const client = deliveriesClient(dispatcher);
  const reasons = async () => {
    const { applicationId } = fixture;
    const all = await ownDeliveries(dispatcher, receiver);
    const ofApplication = await ownDeliveries(dispatcher, receiver, { applicationId });
    const { deliveryId = '' } = all[0] ?? {};
    const read = await client.getOwnDelivery({ deliveryId }, ownerOf(receiver));
    const found = [...all, ...ofApplication, read.delivery];
    return found.map((one) => one?.destinationDisabledReason);
  };
  expect(await reasons()).toEqual(['gone', 'gone', 'gone']);
  fixture.integrations.set(destinationId, url);
  expect(await reasons()).toEqual(['', '', '']);
});

test('a destination without a success for DISABLE_AFTER is disabled, and setting it again starts the time anew', async () => {
  const { respondWith, destinationId, url } = await fixture.addReceiver();
  respondWith(answer(500));
  const { bus, logged } = await fixture.start({
    DISABLE_AFTER: '1h',
    RETRY_DELAYS: '100ms,100ms,100ms',
  });
  await fixture.sql.query(
    `INSERT INTO destination_states (destination_id, failing_since)
     VALUES ($1, now() - interval '2 hours')`,
    [destinationId],
  );
  await bus.publish([fixture.event()]);
  const state = async () => {
    const { rows } = await fixture.sql.query(
      `SELECT revision, disabled_reason, failing_since > now() - interval '1 hour' AS anew
       FROM destination_states`,
    );
    return rows;
  };
  await until(async () =>
    expect(await state()).toEqual([{ revision: 1, disabled_reason: 'no_success', anew: false }]),
  );
  await until(() =>
    expect(logged()).toContainEqual(
      expect.objectContaining({ level: 'warn', destinationId, reason: 'no_success' }),
    ),
  );
  fixture.integrations.set(destinationId, url);
  await bus.publish([fixture.event({ sequence: 2 })]);
  await until(async () =>
    expect(await state()).toEqual([{ revision: 2, disabled_reason: null, anew: true }]),
  );
});

test('while a delivery to a disabled destination is locked, results of others are recorded, and what is inserted behind it ends with it', async () => {
  const gone = await fixture.addReceiver();
  const other = await fixture.addReceiver();
  gone.respondWith(answer(500));
  const { bus, settled } = await fixture.start({ RETRY_DELAYS: '1h' });
  await bus.publish([fixture.event()]);
  await settled();
  const holder = await fixture.sql.connect();
  await holder.query('BEGIN');
  const { rows: locked } = await holder.query(
    `SELECT application_id AS "orderingKey", destination_id AS "destinationId"
     FROM deliveries WHERE state = 'due' FOR UPDATE`,
  );

  gone.respondWith(answer(410));
  const deliveredToOther = async () => {
    const { rows } = await fixture.sql.query(
      `SELECT count(*)::int AS count FROM deliveries
       WHERE destination_id = $1 AND state = 'delivered'`,
      [other.destinationId],
    );
    return rows[0].count;
  };
  await bus.publish([fixture.event({ applicationId: randomUUID() })]);
  await until(() => expect(gone.received).toHaveLength(2));
  await bus.publish([fixture.event({ applicationId: randomUUID() })]);
  await expect.poll(deliveredToOther).toBe(3);

  await insertDelivery(holder, { ...locked[0], sequence: 2, state: 'waiting' });
  await holder.query('COMMIT');
  holder.release();
  const statesOfGone = async () => {
    const { rows } = await fixture.sql.query(
      'SELECT state FROM deliveries WHERE destination_id = $1',
      [gone.destinationId],
    );
    return rows.map(({ state }) => state);
  };
  await expect.poll(statesOfGone).toEqual(['dead', 'dead', 'dead', 'dead']);
});

/** Inserts lanes with deliveries in the given states. */
const addLanes = (
  destinationId: string,
  count: number,
  states: readonly TestDelivery['state'][] = ['due', 'waiting'],
) =>
  insertDeliveries(
    fixture.sql,
    upTo(count).flatMap(() => {
      const orderingKey = randomUUID();
      return states.map((state = 'due', n) => ({
        ...{ destinationId, orderingKey, state, sequence: n + 1 },
      }));
    }),
  );

async function countStates() {
  const { rows } = await fixture.sql.query(
    'SELECT state, reason, count(*)::int FROM deliveries GROUP BY state, reason ORDER BY state',
  );
  return rows;
}

test('deliveries that a process left pending to a disabled destination are ended by the next process, and not sent', async () => {
  const { received, destinationId } = await fixture.addReceiver();
  await addLanes(destinationId, 600);
  await fixture.sql.query(
    `INSERT INTO destination_states (destination_id, failing_since, disabled_at, disabled_reason)
     VALUES ($1, now(), now(), 'gone')`,
    [destinationId],
  );
  await fixture.start();
  const dead = { state: 'dead', reason: 'destination_disabled', count: 1_200 };
  await expect.poll(countStates).toEqual([dead]);
  expect(received).toEqual([]);
});

test('a delivery that waits behind one that has ended is due, so that it is sent when its destination is enabled', async () => {
  const { destinationId } = await fixture.addReceiver();
  await addLanes(destinationId, 1);
  const holder = await fixture.sql.connect();
  await holder.query('BEGIN');
  await holder.query(`SELECT FROM deliveries WHERE state = 'waiting' FOR UPDATE`);
  const deps = {
    pool: fixture.sql,
    queue: { add: () => undefined, dropEnded: () => undefined },
    leaseMs: 1_000,
  };
  const { signal } = new AbortController();
  const ending = endPending(deps, destinationId, 'destination_removed', signal);
  await expect.poll(isAnyBlocked).toBe(true);
  await holder.query('ROLLBACK');
  holder.release();
  expect(await ending).toBe(1);
  expect(await statesOfDeliveries()).toEqual(['dead: destination_removed', 'due']);
});

test('a replayed delivery whose later one is ending is ended after it, and what waits behind both is not left', async () => {
  const { destinationId } = await fixture.addReceiver();
  await addLanes(destinationId, 1, ['due', 'due', 'waiting']);
  await fixture.sql.query('UPDATE deliveries SET replays = 1 WHERE sequence = 1');
  const deps = {
    pool: fixture.sql,
    queue: { add: () => undefined, dropEnded: () => undefined },
    leaseMs: 1_000,
  };
  const { signal } = new AbortController();
  const end = () => endPending(deps, destinationId, 'destination_removed', signal);

  // The transaction of the later one's result, while the next one is locked as well.
  const result = await fixture.sql.connect();
  await result.query('BEGIN');
  const { rows } = await result.query(
    `UPDATE deliveries SET state = 'dead', reason = 'gone' WHERE sequence = 2
     RETURNING application_id AS "orderingKey", destination_id AS "destinationId"`,
  );
  await result.query('SELECT FROM deliveries WHERE sequence = 3 FOR UPDATE');
  await runQuery(result, promoteNextQuery(rows, 1_000));
  await end();
  await result.query('COMMIT');
  result.release();
  expect(await statesOfDeliveries()).toEqual(['due', 'dead: gone', 'waiting']);
  await end();
  const removed = 'dead: destination_removed';
  expect(await statesOfDeliveries()).toEqual([removed, 'dead: gone', removed]);
});

test('endPending ends and drops nothing while the destination is not disabled', async () => {
  const { destinationId } = await fixture.addReceiver();
  await addLanes(destinationId, 1);
  const dropped: string[] = [];
  const queue = {
    add: () => undefined,
    dropEnded: (_: string, ids: ReadonlySet<string>) => void dropped.push(...ids),
  };
  const deps = { pool: fixture.sql, queue, leaseMs: 1_000 };
  const { signal } = new AbortController();
  const end = () => endPending(deps, destinationId, 'destination_disabled', signal);
  expect(await end()).toBe(0);
  expect(dropped).toEqual([]);
  await fixture.sql.query(
    'INSERT INTO destination_states (destination_id, disabled_at) VALUES ($1, now())',
    [destinationId],
  );
  expect(await end()).toBe(2);
  expect(dropped).toHaveLength(2);
});

test('a delivery that is leased while those to its destination end stays in the queue', async () => {
  const { destinationId } = await fixture.addReceiver();
  await addLanes(destinationId, 1);
  const queue = new DeliveryQueue({
    breakers: new OpenBreakers(),
    rates: new DestinationRates(),
    backlog: new Backlog(),
    leaseMs: 60_000,
    maxInFlight: 4,
    maxInFlightPerDestination: 4,
    onRefused: () => undefined,
  });
  const { rows } = await fixture.sql.query('SELECT id FROM deliveries');
  const queued = [...rows, { id: 'leased once it is enabled' }].map(
    ({ id }) => ({ id, destinationId, replays: 0 }) as LeasedDelivery,
  );
  queue.add(queued, performance.now());
  const deps = { pool: fixture.sql, queue, leaseMs: 1_000 };
  const { signal } = new AbortController();
  expect(await endPending(deps, destinationId, 'destination_removed', signal)).toBe(2);
  expect(queue.size).toBe(1);
});

test('when the deliveries to one disabled destination cannot be ended, those to another one are', async () => {
  const [failing, other] = [await fixture.addReceiver(), await fixture.addReceiver()];
  await fixture.sql.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       RAISE 'refused for the test';
     END $$;
     CREATE TRIGGER refuse BEFORE DELETE ON deliveries FOR EACH ROW
       WHEN (OLD.destination_id = '${failing.destinationId}') EXECUTE FUNCTION refuse()`,
  );
  for (const { destinationId } of [failing, other]) {
    await addLanes(destinationId, 1);
    await fixture.sql.query(
      'INSERT INTO destination_states (destination_id, disabled_at) VALUES ($1, now())',
      [destinationId],
    );
  }
  await fixture.start();
  const dead = { state: 'dead', reason: 'destination_disabled', count: 2 };
  await expect.poll(countStates).toContainEqual(dead);
});

async function isAnyBlocked(): Promise<boolean> {
  const { rows } = await fixture.sql.query(
    `SELECT EXISTS (SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0) AS blocked`,
  );
  return rows[0].blocked;
}
