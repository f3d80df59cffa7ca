import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID, type UUID } from 'node:crypto';
import { generateIdentityKeys } from '@creditlane/rpc/identity';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestWorld, sequences, type TestWorld, upTo } from './test-fixture.ts';
import { accept, answer, type Received } from './test-receiver.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await createTestWorld();
});
afterEach(() => world.close());

const until = <T>(check: () => T) => vi.waitFor(check, { timeout: 15_000, interval: 20 });
const applicationOf = ({ body }: Received): UUID => JSON.parse(body).applicationId;

describe('dispatchers that share a database', () => {
  it('deliver everything once and in order, each application by whoever has it', async () => {
    const { received, behave } = await world.receiver();
    const delivered: Received[] = [];
    let requests = 0;
    behave((one, response) => {
      requests += 1;
      if (requests % 5 === 0) return void response.writeHead(503).end();
      delivered.push(one);
      setTimeout(() => response.end(), requests % 3);
    });
    const dispatchers = [await world.start(), await world.start()];
    const applications = upTo(20).map(() => randomUUID());
    for (const sequence of upTo(6)) {
      // Each application's events come to both in turn, as after a rebalance of its partition.
      const { bus } = dispatchers[sequence % 2] ?? expect.unreachable();
      await bus.publish(
        applications.map((applicationId) => world.event({ applicationId, sequence })),
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

  it('hand their work over when one closes', async () => {
    const { received, behave } = await world.receiver();
    behave(answer(503));
    const first = await world.start({ RETRY_DELAYS: '1s,1s,1s' });
    await first.bus.publish(upTo(3).map((sequence) => world.event({ sequence })));
    await until(() => expect(received).toHaveLength(1));
    await first.close();
    behave(accept);
    const second = await world.start();
    await until(() => expect(sequences(received)).toEqual([1, 1, 2, 3]));
    await second.settled();
  });
});

describe('a dispatcher that is killed', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  /** The service as the process that it is in production. */
  async function spawnDispatcher(): Promise<ChildProcess> {
    const child = spawn(process.execPath, [`${import.meta.dirname}/main.ts`], {
      env: {
        ...world.environment,
        IDENTITY_KEY: world.identityKey,
        INTEGRATIONS_ADDRESS: await world.integrations.serve(),
        IDENTITY_TRUST: `gateway:${generateIdentityKeys().publicKey}`,
        // Nobody listens there: it sends what its database holds.
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

  it('loses nothing, and repeats only what it had under way', async () => {
    const { received, behave } = await world.receiver();
    behave(answer(503));
    const first = await world.start({ RETRY_DELAYS: '300ms,300ms,300ms' });
    const applications = upTo(30).map(() => randomUUID());
    for (const sequence of upTo(3)) {
      await first.bus.publish(
        applications.map((applicationId) => world.event({ applicationId, sequence })),
      );
    }
    await first.close();
    received.length = 0;

    // Half of the requests get their answer, the other half is left under way.
    const underWay: Received[] = [];
    behave((one, response) => {
      if (applications.indexOf(applicationOf(one)) % 2 === 0) response.end();
      else underWay.push(one);
    });
    const child = await spawnDispatcher();
    await until(() => expect(underWay.length).toBeGreaterThan(1));
    child.kill('SIGKILL');
    const unanswered = new Set(underWay.map(({ headers }) => headers['webhook-id']));

    behave(accept);
    const second = await world.start();
    await until(async () => {
      const { rows } = await world.sql.query(`SELECT DISTINCT state FROM deliveries`);
      expect(rows).toEqual([{ state: 'delivered' }]);
    });
    await second.settled();
    const times = Map.groupBy(received, ({ headers }) => headers['webhook-id']);
    expect(times.size).toBe(90);
    const repeated = [...times].filter(([, copies]) => copies.length > 1).map(([id]) => id);
    const { rows } = await world.sql.query(
      'SELECT DISTINCT delivery_id FROM attempts WHERE status BETWEEN 200 AND 299',
    );
    expect(rows).toHaveLength(90);
    // What was answered and not yet written down counts as under way too: at most one of each lane.
    expect(repeated.length).toBeLessThanOrEqual(30);
    expect(repeated).toEqual(expect.arrayContaining([...unanswered]));
    for (const applicationId of applications) {
      const own = received.filter((one) => applicationOf(one) === applicationId);
      const firstTimes = [...new Set(sequences(own))];
      expect(firstTimes).toEqual(upTo(3));
    }
  });
});
