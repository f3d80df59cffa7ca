// The promises about the replicas of a service, on real sockets: they share the load, and one that
// comes, goes or dies costs nobody a call.
import { promises as dns } from 'node:dns';
import { startTcpProxy } from '@creditlane/runtime/test-tcp-proxy';
import { expect, test, vi } from 'vitest';
import { REQUEST, refused } from '../test-service.ts';
import {
  CONTEXT,
  clientOf,
  clientOfPorts,
  RECORD,
  startTestReplica,
  type TestReplica,
  underLoad,
} from './test-replica.ts';

const handledBy = (replicas: readonly TestReplica[]) =>
  replicas.reduce((sum, { handled }) => sum + handled.length, 0);

/** The smallest share of the calls that a replica has had, from 0 to 1. */
const smallestShare = (replicas: readonly TestReplica[]) =>
  Math.min(...replicas.map(({ handled }) => handled.length)) / handledBy(replicas);

const threeReplicas = () =>
  Promise.all([startTestReplica(), startTestReplica(), startTestReplica()]);

test('calls go round all replicas', async () => {
  const replicas = await threeReplicas();
  const decisions = clientOfPorts(replicas.map(({ port }) => port));
  const enough = () => handledBy(replicas) >= 600;
  await underLoad(() => decisions.getDecision(REQUEST, CONTEXT), enough);
  expect(smallestShare(replicas)).toBeGreaterThan(0.2);
});

test.each([
  { what: 'read' },
  { what: 'write with an idempotency key', write: { ...CONTEXT, idempotencyKey: 'key' } },
  { what: 'write without one', write: CONTEXT },
])('a replica that dies fails no $what', async ({ write }) => {
  const replicas = await threeReplicas();
  const proxies = await Promise.all(replicas.map(({ port }) => startTcpProxy(port)));
  const decisions = clientOfPorts(proxies.map(({ port }) => port));
  const call = () =>
    write === undefined
      ? decisions.getDecision(REQUEST, CONTEXT)
      : decisions.recordDecision(RECORD, write);

  let alive = true;
  await underLoad(call, () => {
    if (alive && handledBy(replicas) >= 400) {
      alive = false;
      proxies[0]?.disconnect();
    }
    return handledBy(replicas) >= 1_000;
  });
});

test('a write without a key whose replica dies under it comes to another as the same call', async () => {
  const arrived = Promise.withResolvers<void>();
  const never = new Promise<object>(() => {});
  let attempts = 0;
  const answer = async () => {
    arrived.resolve();
    attempts += 1;
    return attempts === 1 ? never : {};
  };
  const replicas = await Promise.all([startTestReplica({ answer }), startTestReplica({ answer })]);
  const proxies = await Promise.all(replicas.map(({ port }) => startTcpProxy(port)));
  const call = clientOfPorts(proxies.map(({ port }) => port)).recordDecision(RECORD, CONTEXT);
  await arrived.promise;
  proxies[replicas.findIndex(({ handled }) => handled.length > 0)]?.disconnect();
  await call;
  const ids = replicas.flatMap(({ handled }) => handled.map(({ retryToken }) => retryToken));
  expect(ids).toEqual([expect.any(String), ids[0]]);
});

test('that nobody answers is told without naming an address', async () => {
  const { port, disconnect } = await startTcpProxy(0);
  disconnect();
  const fault = await refused(clientOfPorts([port]).getDecision(REQUEST, CONTEXT));
  expect(fault).toMatchObject({
    kind: 'unavailable',
    message: 'a service needed for this is away',
  });
  // The log gets it.
  expect(fault.cause).toMatchObject({ message: expect.stringContaining(`127.0.0.1:${port}`) });
});

test('a replica that restarts in good order fails no call, not even a write without a key', async () => {
  const replicas = await threeReplicas();
  const [first] = replicas;
  const decisions = clientOfPorts(replicas.map(({ port }) => port));
  const after: TestReplica[] = [];
  const busy = Promise.withResolvers<void>();
  const load = underLoad(
    () => decisions.recordDecision(RECORD, CONTEXT),
    () => {
      if (first.handled.length > 50) busy.resolve();
      return handledBy(after) > 50;
    },
  );
  const restart = async () => {
    await busy.promise;
    await first.close();
    after.push(await startTestReplica({ port: first.port }));
  };
  await Promise.all([load, restart()]);
});

test('connections that have reached their age fail no call', async () => {
  const maxConnectionAgeMs = 100;
  const replicas = [
    await startTestReplica({ maxConnectionAgeMs }),
    await startTestReplica({ maxConnectionAgeMs }),
  ];
  const decisions = clientOfPorts(replicas.map(({ port }) => port));
  const enough = () => handledBy(replicas) >= 2_000;
  await underLoad(() => decisions.recordDecision(RECORD, CONTEXT), enough);
});

// A Mac has to be told before it listens on other loopback addresses than the first.
test.skipIf(process.platform === 'darwin')(
  'a new replica is found by its name once connections reach their age, and takes its share',
  async () => {
    const maxConnectionAgeMs = 200;
    const addresses = ['127.0.0.1', '127.0.0.2'];
    const lookup = async () => addresses.map((address) => ({ address, family: 4 }));
    vi.spyOn(dns, 'lookup').mockImplementation(lookup as never);
    const start = (host: string, port: number) =>
      startTestReplica({ host, port, maxConnectionAgeMs });
    const first = await start('127.0.0.1', 0);
    const { port } = first;
    const old = [first, await start('127.0.0.2', port)];
    const decisions = clientOf(`dns:///decisions.test:${port}`);
    const call = () => decisions.getDecision(REQUEST, CONTEXT);
    await underLoad(call, () => handledBy(old) >= 100);

    const fresh = await start('127.0.0.3', port);
    addresses.push('127.0.0.3');
    await underLoad(call, () => fresh.handled.length > 0);
    const all = [...old, fresh];
    for (const { handled } of all) handled.length = 0;
    await underLoad(call, () => handledBy(all) >= 600);
    expect(smallestShare(all)).toBeGreaterThan(0.2);
  },
);
