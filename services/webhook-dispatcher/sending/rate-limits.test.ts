// A destination with a rate limit, with two dispatchers on one database.
import { randomUUID } from 'node:crypto';
import { runQuery } from '@creditlane/postgres/statement';
import { expect, type TestContext, test, vi } from 'vitest';
import { deliveriesClient, ownerOf } from '../own-deliveries/test-owner.ts';
import { claimLimitedQuery, PERMIT_MS, saveRatesQuery } from '../store/rates.ts';
import { addEndedDeliveries, insertDeliveries, type TestDelivery } from '../test-deliveries.ts';
import {
  createTestFixture,
  type Dispatcher,
  type Receiver,
  sequences,
  type TestFixture,
  until,
  upTo,
} from '../test-fixture.ts';
import { accept, type Received, type Responder } from '../test-receiver.ts';

/** Opens the fixture of one test, which runs beside others. */
async function openFixture({ onTestFinished }: TestContext): Promise<TestFixture> {
  const fixture = await createTestFixture();
  onTestFinished(() => fixture.close());
  return fixture;
}

/** A receiver, and when each of its requests came, by performance.now(). */
async function addTimedReceiver(fixture: TestFixture, respond: Responder = accept) {
  const receiver = await fixture.addReceiver();
  const timesMs: number[] = [];
  receiver.respondWith((received, response) => {
    timesMs.push(performance.now());
    respond(received, response);
  });
  return { ...receiver, timesMs };
}

/** The most requests in any time of `windowMs`. */
function mostWithin(timesMs: readonly number[], windowMs: number): number {
  const counts = timesMs.map((from) => timesMs.filter((at) => at >= from && at < from + windowMs));
  return Math.max(0, ...counts.map(({ length }) => length));
}

/** Expects no more than 1.05 times the limit and one second's worth in any window. */
function expectWithinRate(timesMs: readonly number[], perSecond: number): void {
  for (const windowMs of [10, 250, 1_000, 1_500, 2_000, 5_000]) {
    const limit = (1.05 * perSecond * windowMs) / 1_000 + perSecond;
    expect(mostWithin(timesMs, windowMs)).toBeLessThanOrEqual(limit);
  }
}

/** Stores due deliveries in lanes of `perLane`, of which the first one is due and the others wait. */
async function addBacklog(
  { sql }: TestFixture,
  { destinationId }: Receiver,
  lanes: number,
  perLane: number,
) {
  const deliveries = upTo(lanes).flatMap(() => {
    const orderingKey = randomUUID();
    const numberingKey = randomUUID();
    return upTo(perLane).map((sequence): TestDelivery => {
      const lane = { destinationId, orderingKey, numberingKey, sequence };
      return {
        ...lane,
        state: sequence === 1 ? 'due' : 'waiting',
        body: JSON.stringify({ applicationId: orderingKey, creditorId: numberingKey }),
      };
    });
  });
  await insertDeliveries(sql, deliveries);
}

const applicationOf = ({ body }: Received): string => JSON.parse(body).applicationId;

function expectOrder(received: readonly Received[], perLane: number): void {
  for (const [, own] of Map.groupBy(received, applicationOf)) {
    expect(sequences(own)).toEqual(upTo(perLane));
  }
}

/** Stores the limit as a dispatcher does that has found it. */
const storeLimit = (fixture: TestFixture, { destinationId }: Receiver, perSecond: number) => {
  fixture.integrations.limit(destinationId, perSecond);
  return runQuery(fixture.sql, saveRatesQuery([{ destinationId, revision: 2, perSecond }]));
};

function testEvent({ applicationId, retailerId, creditorId }: TestFixture) {
  const payload = { applicationId, retailerId, creditorId, status: 'BOOKED' };
  return { event: 'applicationBooked', payload: JSON.stringify(payload) };
}

/** Resolves when everything has ended, also what is to be tried later: a delivery that lost its permit is due after a second. */
async function settled({ sql }: TestFixture, dispatchers: readonly Dispatcher[]): Promise<void> {
  const pending = `SELECT id FROM deliveries WHERE storage <> 'ended'
    UNION ALL SELECT id FROM replay_jobs WHERE finished_at IS NULL`;
  const isEnded = async () => expect((await sql.query(pending)).rows).toEqual([]);
  await vi.waitFor(isEnded, { timeout: 40_000, interval: 50 });
  for (const dispatcher of dispatchers) await dispatcher.settled();
}

test('a backlog is sent at the rate by two dispatchers together, each once and in order', async (context) => {
  const fixture = await openFixture(context);
  const limited = await addTimedReceiver(fixture);
  // At twice the rate, three times the deliveries of a second come in 1.5 s.
  fixture.integrations.limit(limited.destinationId, 65);
  await addBacklog(fixture, limited, 50, 4);
  await settled(fixture, [await fixture.start(), await fixture.start()]);
  expect(limited.received).toHaveLength(200);
  expectOrder(limited.received, 4);
  expectWithinRate(limited.timesMs, 65);
  const { rows } = await fixture.sql.query('SELECT max(attempts) FROM deliveries');
  expect(rows).toEqual([{ max: 1 }]);
}, 60_000);

test('while thousands wait for the rate of a destination, they are not claimed, and others get theirs', async (context) => {
  const fixture = await openFixture(context);
  const [limited, other] = [await addTimedReceiver(fixture), await addTimedReceiver(fixture)];
  await storeLimit(fixture, limited, 1);
  await addBacklog(fixture, limited, 3_000, 1);
  await addBacklog(fixture, other, 100, 2);
  const startedMs = performance.now();
  const dispatchers = [await fixture.start(), await fixture.start()];
  for (const { bus } of dispatchers) {
    await bus.publish(upTo(20).map(() => fixture.event({ applicationId: randomUUID() })));
  }
  await until(() => expect(other.received).toHaveLength(240));
  const { rows } = await fixture.sql.query(
    'SELECT count(*)::int FROM deliveries WHERE destination_id = $1 AND fence > 1',
    [limited.destinationId],
  );
  // One permit is there at first, and one more comes in each second. A claim whose delivery is not sent in time takes one, too.
  const permits = 1 + (performance.now() - startedMs) / 1_000;
  expect(rows[0].count).toBeLessThanOrEqual(permits);
  expectWithinRate(limited.timesMs, 1);
});

test('while other destinations take all slots, a limited one gets its deliveries, too', async (context) => {
  const fixture = await openFixture(context);
  const limited = await addTimedReceiver(fixture);
  const other = await addTimedReceiver(fixture, (_, response) => {
    setTimeout(() => response.writeHead(204).end(), 20);
  });
  await storeLimit(fixture, limited, 20);
  await addBacklog(fixture, limited, 15, 1);
  await addBacklog(fixture, other, 1_000, 1);
  await fixture.start({ MAX_IN_FLIGHT: '2' });
  await until(() => expect(limited.received).toHaveLength(15));
  expect(other.received.length).toBeLessThan(1_000);
  expectWithinRate(limited.timesMs, 20);
}, 60_000);

test('a limit that is set, raised or removed while a backlog waits takes effect soon', async (context) => {
  const fixture = await openFixture(context);
  const limited = await addTimedReceiver(fixture, (_, response) => {
    setTimeout(() => response.writeHead(204).end(), 100);
  });
  const setLimit = async (perSecond: number) => {
    fixture.integrations.limit(limited.destinationId, perSecond);
    const stored = 'SELECT FROM destination_rates WHERE per_second = $1';
    await until(async () => {
      expect((await fixture.sql.query(stored, [perSecond])).rows).toHaveLength(1);
    });
  };
  await addBacklog(fixture, limited, 1_500, 1);
  const dispatchers = [await fixture.start(), await fixture.start()];
  await until(() => expect(limited.received.length).toBeGreaterThan(20));
  await setLimit(5);
  // The other dispatcher finds the limit with its own next attempt, and what is under way arrives.
  const before = limited.timesMs.length + 128;
  await until(() => expect(mostWithin(limited.timesMs.slice(-10), 1_000)).toBeLessThan(9));
  expect(limited.timesMs.length).toBeLessThan(before);
  const atFive = limited.timesMs.length;
  await setLimit(50);
  await until(() => expect(limited.timesMs.length).toBeGreaterThan(atFive + 120));
  expectWithinRate(limited.timesMs.slice(atFive), 50);
  fixture.integrations.limit(limited.destinationId);
  await settled(fixture, dispatchers);
  expect(limited.received).toHaveLength(1_500);
  expect((await fixture.sql.query('SELECT FROM destination_rates')).rows).toEqual([]);
}, 90_000);

// These wait for permits most of their time, and so run at once.
test.concurrent('retries, replays and test events count towards the limit', async (context) => {
  const fixture = await openFixture(context);
  let requests = 0;
  const limited = await addTimedReceiver(fixture, (_, response) => {
    requests += 1;
    response.writeHead(requests % 3 === 0 && requests <= 45 ? 503 : 204).end();
  });
  fixture.integrations.limit(limited.destinationId, 20);
  const retries = { RETRY_DELAYS: Array(20).fill('50ms').join(',') };
  const dispatchers = [await fixture.start(retries), await fixture.start(retries)];
  await addEndedDeliveries(fixture, { ...limited, count: 15, applications: 5 });
  await addBacklog(fixture, limited, 10, 2);
  const clients = dispatchers.map(deliveriesClient);
  await clients[0]?.replayDeliveries({ filter: {} }, ownerOf(limited));
  for (const n of upTo(6))
    await clients[n % 2]?.sendTestEvent(testEvent(fixture), ownerOf(limited));
  await settled(fixture, dispatchers);
  const { rows } = await fixture.sql.query('SELECT DISTINCT state FROM deliveries');
  expect(rows).toEqual([{ state: 'delivered' }]);
  // A third of the first attempts fails.
  expect(limited.timesMs.length).toBeGreaterThanOrEqual(50);
  expectWithinRate(limited.timesMs, 20);
}, 60_000);

test.concurrent('with a limit of one, attempts of deliveries and test events are a second apart', async (context) => {
  const fixture = await openFixture(context);
  const limited = await addTimedReceiver(fixture);
  fixture.integrations.limit(limited.destinationId, 1);
  const dispatchers = [await fixture.start(), await fixture.start()];
  await addBacklog(fixture, limited, 2, 1);
  for (const dispatcher of dispatchers) {
    await deliveriesClient(dispatcher).sendTestEvent(testEvent(fixture), ownerOf(limited));
  }
  await settled(fixture, dispatchers);
  expect(limited.received).toHaveLength(4);
  expectWithinRate(limited.timesMs, 1);
}, 60_000);

test.concurrent('probes of a failing destination count towards the limit, also those that a test event makes due', async (context) => {
  const fixture = await openFixture(context);
  const limited = await addTimedReceiver(fixture, ({ headers }, response) => {
    response.writeHead(headers['webhook-test'] ? 204 : 503).end();
  });
  fixture.integrations.limit(limited.destinationId, 1);
  await fixture.sql.query(
    `INSERT INTO open_breakers VALUES ($1, 2, 0, now() + interval '1 hour')`,
    [limited.destinationId],
  );
  await addBacklog(fixture, limited, 10, 1);
  const dispatcher = await fixture.start();
  await deliveriesClient(dispatcher).sendTestEvent(testEvent(fixture), ownerOf(limited));
  const sent = limited.timesMs.length;
  await until(() => expect(limited.timesMs.length).toBeGreaterThan(sent));
  expectWithinRate(limited.timesMs, 1);
}, 60_000);

test.concurrent('deliveries that take longer to prepare than a permit lasts are sent, at the rate', async (context) => {
  const fixture = await openFixture(context);
  const limited = await addTimedReceiver(fixture);
  fixture.integrations.limit(limited.destinationId, 10);
  const dispatcher = await fixture.start();
  // Each attempt at a replayed delivery asks for the grant.
  fixture.integrations.state.recipientsDelayMs = 2 * PERMIT_MS;
  await addEndedDeliveries(fixture, { ...limited, count: 15 });
  await deliveriesClient(dispatcher).replayDeliveries({ filter: {} }, ownerOf(limited));
  await settled(fixture, [dispatcher]);
  expect(limited.received).toHaveLength(15);
  expectWithinRate(limited.timesMs, 10);
}, 60_000);

test.concurrent('a delivery whose destination is removed while it waits for a permit is not sent', async (context) => {
  const fixture = await openFixture(context);
  const limited = await addTimedReceiver(fixture);
  const { destinationId } = limited;
  await storeLimit(fixture, limited, 1);
  const inAnHour = `INSERT INTO open_breakers VALUES ($1, 2, 0, now() + interval '1 hour')`;
  await fixture.sql.query(inAnHour, [destinationId]);
  await addBacklog(fixture, limited, 1, 1);
  const dispatcher = await fixture.start();
  let fullAt: string | undefined;
  /** Puts the next permit off to 1.9 s from now; false when it has been taken, which changes `full_at`. */
  const postponePermit = async (): Promise<boolean> => {
    const { rows } = await fixture.sql.query(
      `UPDATE destination_rates SET full_at = now() + interval '1.9 s'
       WHERE full_at::text = coalesce($1, full_at::text) RETURNING full_at::text AS at`,
      [fullAt],
    );
    fullAt = rows[0]?.at;
    return fullAt !== undefined;
  };
  await postponePermit();
  // A probe has no permit from its claim, and takes one that it then waits for.
  await fixture.sql.query('UPDATE open_breakers SET probe_at = now()');
  await expect.poll(postponePermit, { interval: 20 }).toBe(false);
  fixture.integrations.destinations.delete(destinationId);
  await settled(fixture, [dispatcher]);
  expect(limited.received).toEqual([]);
  const { rows } = await fixture.sql.query('SELECT reason FROM deliveries');
  expect(rows).toEqual([{ reason: 'destination_removed' }]);
}, 60_000);

test.concurrent('deliveries that a dead process had claimed are sent, and count as held back', async (context) => {
  const fixture = await openFixture(context);
  const limited = await addTimedReceiver(fixture);
  await storeLimit(fixture, limited, 20);
  await addBacklog(fixture, limited, 20, 2);
  const destinationIds = [limited.destinationId];
  const claim = { destinationIds, capacities: new Map(), otherCapacity: 100 };
  const query = claimLimitedQuery({ ...claim, limit: 100, leaseMs: 1_000 });
  expect((await runQuery(fixture.sql, query)).deliveries).toHaveLength(10);
  // A dispatcher looks for leases of other processes that have ended five times in the time of its own.
  const dispatcher = await fixture.start({ LEASE: '1s' });
  await settled(fixture, [dispatcher]);
  expect(limited.received).toHaveLength(40);
  expectOrder(limited.received, 2);
  const metrics = await dispatcher.metrics();
  expect(metrics).toContain('webhook_latency_seconds_count{receiver="answering"} 0');
  expect(metrics).toContain('webhook_latency_seconds_count{receiver="failing"} 40');
}, 60_000);
