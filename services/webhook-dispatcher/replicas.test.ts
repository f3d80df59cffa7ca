import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID, type UUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { generateIdentityKeys } from '@creditlane/rpc/credentials/identity-keys';
import { compiledModules } from '@creditlane/runtime/compiled-modules';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { deliveriesClient, ownerOf } from './own-deliveries/test-owner.ts';
import { addEndedDeliveries } from './test-deliveries.ts';
import { createTestFixture, sequences, type TestFixture, until, upTo } from './test-fixture.ts';
import { accept, answer, type Received } from './test-receiver.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

/** The leases of a dispatcher that looks for those of a dead process every 1.2 s. */
const TAKING_OVER = { LEASE: '6s' };
/** For a process that is to start, connect and send, which takes long on a busy machine. */
const STARTED = { timeout: 40_000, interval: 10 };
const applicationOf = ({ body }: Received): UUID => JSON.parse(body).applicationId;

/** As if the delays before all retries had passed. */
async function makeRetriesDue(): Promise<void> {
  await fixture.sql.query(`UPDATE deliveries SET next_attempt_at = now() WHERE state = 'due'`);
}

describe('dispatchers that share a database', () => {
  test('deliver everything once and in order, even if they consume an application’s events alternately', async () => {
    const { received, respondWith } = await fixture.addReceiver();
    const delivered: Received[] = [];
    let requests = 0;
    respondWith((one, response) => {
      requests += 1;
      if (requests % 5 === 0) return void response.writeHead(503).end();
      delivered.push(one);
      void setTimeout(requests % 3).then(() => response.end());
    });
    // With five attempts one delivery in 3,000 would meet a failure each time, and be dead.
    const settings = { RETRY_DELAYS: Array(20).fill('50ms').join(',') };
    const dispatchers = [await fixture.start(settings), await fixture.start(settings)];
    const applications = upTo(20).map(() => randomUUID());
    for (const sequence of upTo(6)) {
      // The two consume each application's events alternately, as after a rebalance of its partition.
      const { bus } = dispatchers[sequence % 2] ?? expect.unreachable();
      await bus.publish(
        applications.map((applicationId) => fixture.event({ applicationId, sequence })),
      );
    }
    await until(() => expect(delivered).toHaveLength(120));
    for (const { settled } of dispatchers) await settled();
    expect(delivered).toHaveLength(120);
    expect(received.length).toBe(requests);
    for (const applicationId of applications) {
      const own = delivered.filter((one) => applicationOf(one) === applicationId);
      expect(sequences(own)).toEqual(upTo(6));
    }
  });

  test('send nothing again that one of them is sending when it closes, also after the time of its lease', async () => {
    const { received, respondWith } = await fixture.addReceiver();
    const answers: ServerResponse[] = [];
    const other = await fixture.start();
    const leaseEndMs = async (): Promise<number> => {
      const { rows } = await fixture.sql.query(
        `SELECT next_attempt_at AS at FROM deliveries WHERE state = 'due'`,
      );
      return rows[0]?.at.getTime();
    };
    /** Closes a dispatcher that is sending; returns whether its request lasted until the receiver answered. */
    const closeWhileSending = async (): Promise<boolean> => {
      received.length = 0;
      respondWith((_, response) => void answers.push(response));
      const closing = await fixture.start({ LEASE: '6s' });
      await closing.bus.publish([fixture.event({ applicationId: randomUUID() })]);
      await until(() => expect(received).toHaveLength(1));
      const closed = closing.close();
      const endMs = await leaseEndMs();
      // Renewals come every 1.2 s, and `close` waits three seconds for requests under way.
      await expect.poll(leaseEndMs).toBeGreaterThan(endMs);
      const held = answers.splice(0);
      const isUnderWay = held.length === 1 && held[0]?.destroyed === false;
      respondWith(accept);
      for (const response of held) response.end();
      await closed;
      await other.settled();
      return isUnderWay;
    };
    // When the machine pauses this process for longer than `close` waits, the request is cut off and sent again: one of five counts.
    let isAnswered = false;
    for (let round = 0; round < 5 && !isAnswered; round += 1) {
      isAnswered = await closeWhileSending();
    }
    expect(isAnswered).toBe(true);
    expect(received).toHaveLength(1);
  });

  test('store that a destination no longer fails when one of them delivers what another one could not', async () => {
    const { received, respondWith } = await fixture.addReceiver();
    const other = await fixture.start();
    await other.bus.publish([fixture.event()]);
    await other.settled();
    const failing = await fixture.start({ RETRY_DELAYS: '1h' });
    respondWith(answer(503));
    await failing.bus.publish([fixture.event({ applicationId: randomUUID() })]);
    const health = async (): Promise<object[]> =>
      (await fixture.sql.query('SELECT failing_since IS NOT NULL AS fails FROM destination_states'))
        .rows;
    await expect.poll(health).toEqual([{ fails: true }]);
    respondWith(answer(204));
    await failing.close();
    await makeRetriesDue();
    await until(() => expect(received).toHaveLength(3));
    await other.settled();
    expect(await health()).toEqual([{ fails: false }]);
  });

  test('continue with the deliveries of a dispatcher that closes', async () => {
    const { received, respondWith } = await fixture.addReceiver();
    respondWith(answer(503));
    const first = await fixture.start({ RETRY_DELAYS: '1h' });
    await first.bus.publish(upTo(3).map((sequence) => fixture.event({ sequence })));
    await until(() => expect(received).toHaveLength(1));
    await first.close();
    respondWith(accept);
    await makeRetriesDue();
    const second = await fixture.start();
    await until(() => expect(sequences(received)).toEqual([1, 1, 2, 3]));
    await second.settled();
  });
});

describe('a destination whose circuit breaker is open', () => {
  test('is sent one request at a time by all dispatchers together, and everything once it answers', async () => {
    const { received, respondWith, destinationId } = await fixture.addReceiver();
    const hanging: ServerResponse[] = [];
    respondWith((_, response) => void hanging.push(response));
    await fixture.sql.query(
      `INSERT INTO open_breakers VALUES ($1, 1, 0, now() + interval '1 hour')`,
      [destinationId],
    );
    const settings = { DELIVERY_DEADLINE: '60s' };
    const dispatchers = [await fixture.start(settings), await fixture.start(settings)];
    const all = async (state: string) => {
      for (const { metrics } of dispatchers) {
        await until(async () => expect(await metrics()).toContain(`breakers{state="${state}"} 1`));
      }
    };
    await all('open');
    for (const { bus } of dispatchers) {
      await bus.publish(upTo(5).map(() => fixture.event({ applicationId: randomUUID() })));
    }
    await until(async () => {
      const { rows } = await fixture.sql.query(
        'SELECT state, leased, count(*)::int FROM deliveries GROUP BY state, leased',
      );
      expect(rows).toEqual([{ state: 'due', leased: false, count: 10 }]);
    });

    await fixture.sql.query('UPDATE open_breakers SET probe_at = now()');
    await all('half_open');
    await until(() => expect(hanging).toHaveLength(1));

    respondWith(accept);
    hanging[0]?.writeHead(204).end();
    await until(() => expect(received).toHaveLength(10));
    for (const { settled } of dispatchers) await settled();
    await until(async () => {
      expect((await fixture.sql.query('SELECT FROM open_breakers')).rows).toEqual([]);
    });
  });
});

describe('a dispatcher that is killed', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  /** The service as a process of its own, as in production. */
  async function spawnDispatcher(): Promise<ChildProcess> {
    const child = spawn(process.execPath, [`${import.meta.dirname}/main.ts`], {
      env: {
        ...compiledModules(),
        ...fixture.environment,
        LEASE: '1s',
        IDENTITY_KEY: fixture.identityKey,
        INTEGRATIONS_ADDRESS: await fixture.integrations.serve(),
        // Called for exports only.
        APPLICATIONS_ADDRESS: '127.0.0.1:1',
        IDENTITY_TRUST: `gateway:${generateIdentityKeys().publicKey}`,
        // No broker listens there: the process sends what its database holds.
        KAFKA_BROKERS: '127.0.0.1:1',
        GRPC_PORT: '0',
        HTTP_PORT: '0',
        OPS_PORT: '0',
      },
      stdio: 'ignore',
    });
    children.push(child);
    return child;
  }

  test('in the middle of a replay of many deliveries neither loses nor doubles any', async () => {
    const receiver = await fixture.addReceiver();
    const first = await fixture.start({ REPLAYS_PER_SECOND: '1' });
    await addEndedDeliveries(fixture, { ...receiver, count: 60, applications: 20 });
    const client = deliveriesClient(first);
    const { replay } = await client.replayDeliveries({ filter: {} }, ownerOf(receiver));
    await first.close();
    const child = await spawnDispatcher();
    const received = () => expect(receiver.received.length).toBeGreaterThan(5);
    await vi.waitFor(received, STARTED);
    child.kill('SIGKILL');
    const second = await fixture.start({ REPLAYS_PER_SECOND: '1000', ...TAKING_OVER });
    await second.settled();
    const { rows } = await fixture.sql.query(
      `SELECT job.state, matched, replayed, skipped, min(replays), max(replays), count(*)::int
       FROM replay_jobs AS job JOIN deliveries ON deliveries.state = 'delivered'
       WHERE job.id = $1 GROUP BY job.id`,
      [replay?.replayId],
    );
    const counts = { matched: 60, replayed: 60, skipped: 0, min: 1, max: 1, count: 60 };
    expect(rows).toEqual([{ state: 'completed', ...counts }]);
  }, 60_000);

  test('loses no delivery, and the next dispatcher repeats only the requests that were under way', async () => {
    const { received, respondWith } = await fixture.addReceiver();
    respondWith(answer(503));
    const first = await fixture.start({ RETRY_DELAYS: '300ms,300ms,300ms' });
    const applications = upTo(30).map(() => randomUUID());
    for (const sequence of upTo(3)) {
      await first.bus.publish(
        applications.map((applicationId) => fixture.event({ applicationId, sequence })),
      );
    }
    await first.close();
    received.length = 0;
    // Otherwise the child would send one request at a time.
    await fixture.sql.query('TRUNCATE open_breakers');

    // Half of the requests are answered; the other half stays under way.
    const underWay: Received[] = [];
    respondWith((one, response) => {
      if (applications.indexOf(applicationOf(one)) % 2 === 0) response.end();
      else underWay.push(one);
    });
    const child = await spawnDispatcher();
    await vi.waitFor(() => expect(underWay.length).toBeGreaterThan(1), STARTED);
    child.kill('SIGKILL');
    const unanswered = new Set(underWay.map(({ headers }) => headers['webhook-id']));

    respondWith(accept);
    const second = await fixture.start(TAKING_OVER);
    await until(async () => {
      const { rows } = await fixture.sql.query(`SELECT DISTINCT state FROM deliveries`);
      expect(rows).toEqual([{ state: 'delivered' }]);
    });
    await second.settled();
    const times = Map.groupBy(received, ({ headers }) => headers['webhook-id']);
    expect(times.size).toBe(90);
    const repeated = [...times].filter(([, copies]) => copies.length > 1).map(([id]) => id);
    const { rows } = await fixture.sql.query(
      'SELECT DISTINCT delivery_id FROM attempts WHERE status BETWEEN 200 AND 299',
    );
    expect(rows).toHaveLength(90);
    // An answer without a stored result counts as under way too: at most one of each lane.
    expect(repeated.length).toBeLessThanOrEqual(30);
    expect(repeated).toEqual(expect.arrayContaining([...unanswered]));
    for (const applicationId of applications) {
      const own = received.filter((one) => applicationOf(one) === applicationId);
      const firstTimes = [...new Set(sequences(own))];
      expect(firstTimes).toEqual(upTo(3));
    }
  }, 60_000);
});
