// Replicas of a service on real sockets: they share the load, and no call fails when a replica starts,
// stops or dies.
import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Code } from '@connectrpc/connect';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import { startTcpProxy } from '@creditlane/runtime/test-tcp-proxy';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import { expect, onTestFinished, test, vi } from 'vitest';
import { faultOf, GET_DECISION } from '../test-service.ts';
import {
  CONTEXT,
  callUntil,
  connectToAddress,
  connectToPorts,
  RECORD_DECISION,
  startTestReplica,
  type TestReplica,
} from './test-replica.ts';
import { openGrpcTransport } from './transport.ts';

const handledBy = (replicas: readonly TestReplica[]) =>
  replicas.reduce((sum, { handled }) => sum + handled.length, 0);

/** The smallest share of all calls that one replica handled, from 0 to 1. */
const smallestShare = (replicas: readonly TestReplica[]) =>
  Math.min(...replicas.map(({ handled }) => handled.length)) / handledBy(replicas);

const threeReplicas = () =>
  Promise.all([startTestReplica(), startTestReplica(), startTestReplica()]);

test('a client distributes its calls over all replicas', async () => {
  const replicas = await threeReplicas();
  const decisions = connectToPorts(replicas.map(({ port }) => port));
  const call = () => decisions.getDecision(GET_DECISION, CONTEXT);
  // Calls before the client is connected to all replicas go to fewer, and are not counted.
  await callUntil(() => replicas.every(({ handled }) => handled.length > 0), call);
  for (const { handled } of replicas) handled.length = 0;
  await callUntil(() => handledBy(replicas) >= 600, call);
  expect(smallestShare(replicas)).toBeGreaterThan(0.2);
});

test.each([
  { what: 'read' },
  { what: 'write with an idempotency key', write: { ...CONTEXT, idempotencyKey: 'key' } },
  { what: 'write without one', write: CONTEXT },
])('when a replica dies, no $what fails', async ({ write }) => {
  const replicas = await threeReplicas();
  const proxies = await Promise.all(replicas.map(({ port }) => startTcpProxy(port)));
  const decisions = connectToPorts(proxies.map(({ port }) => port));
  const call = () =>
    write === undefined
      ? decisions.getDecision(GET_DECISION, CONTEXT)
      : decisions.recordDecision(RECORD_DECISION, write);

  let alive = true;
  const isEnough = () => {
    if (alive && handledBy(replicas) >= 400) {
      alive = false;
      proxies[0]?.disconnect();
    }
    return handledBy(replicas) >= 1_000;
  };
  await callUntil(isEnough, call);
});

test('a write without a key whose replica dies reaches another replica with the same retry token', async () => {
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
  const call = connectToPorts(proxies.map(({ port }) => port)).recordDecision(
    RECORD_DECISION,
    CONTEXT,
  );
  await arrived.promise;
  proxies[replicas.findIndex(({ handled }) => handled.length > 0)]?.disconnect();
  await call;
  const ids = replicas.flatMap(({ handled }) => handled.map(({ retryToken }) => retryToken));
  expect(ids).toEqual([expect.any(String), ids[0]]);
});

test('when no replica answers, the fault names no address and its cause does', async () => {
  const [port = 0] = await findFreePorts(1);
  const fault = await faultOf(connectToPorts([port]).getDecision(GET_DECISION, CONTEXT));
  expect(fault).toMatchObject({
    kind: 'unavailable',
    message: 'a required service is unavailable',
  });
  // The cause is logged.
  expect(fault.cause).toMatchObject({ message: expect.stringContaining(`127.0.0.1:${port}`) });
});

test.each<[what: string, end: (stream: ServerHttp2Stream) => void]>([
  ['stream', (stream) => stream.close()],
  ['session with an error', (stream) => stream.session?.destroy(undefined, 2)],
])(
  'a call whose peer ends its %s without an answer is attempted again, and then fails as unavailable',
  async (_, end) => {
    let attempts = 0;
    const server = createServer().on('stream', (stream) => {
      attempts += 1;
      end(stream);
    });
    server.on('sessionError', () => undefined);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const fault = await faultOf(connectToPorts([port]).getDecision(GET_DECISION, CONTEXT));
    expect(fault).toMatchObject({ kind: 'unavailable' });
    expect(attempts).toBe(4);
  },
);

test('a call that waits for a lost peer fails as unavailable when its client closes', async () => {
  const replica = await startTestReplica();
  const { unary, close, reachable } = openGrpcTransport(`127.0.0.1:${replica.port}`);
  await expect.poll(reachable).toBe(true);
  await replica.close();
  await expect.poll(reachable).toBe(false);
  const method = DecisionsService.method.getDecision;
  const call = unary(method, undefined, 20_000, {}, GET_DECISION);
  close();
  await expect(call).rejects.toMatchObject({ code: Code.Unavailable });
});

test('when a replica restarts gracefully, no call fails, not even a write without a key', async () => {
  // The system gives none of these ports to a program that asks for any, so that none takes it while the replica is away.
  const [port = 0] = await findFreePorts(1);
  const first = await startTestReplica({ port });
  const replicas = [first, await startTestReplica(), await startTestReplica()];
  const decisions = connectToPorts(replicas.map((it) => it.port));
  const after: TestReplica[] = [];
  const busy = Promise.withResolvers<void>();
  const isEnough = () => {
    if (first.handled.length > 50) busy.resolve();
    return handledBy(after) > 50;
  };
  const load = callUntil(isEnough, () => decisions.recordDecision(RECORD_DECISION, CONTEXT));
  const restart = async () => {
    await busy.promise;
    await first.close();
    after.push(await startTestReplica({ port }));
  };
  await Promise.all([load, restart()]);
});

test('when connections reach their maximum age, no call fails', async () => {
  // A call fails when every connection has ended before it is used: opening one must take less time, also on a busy machine.
  const maxConnectionAgeMs = 500;
  const replicas = [
    await startTestReplica({ maxConnectionAgeMs }),
    await startTestReplica({ maxConnectionAgeMs }),
  ];
  const decisions = connectToPorts(replicas.map(({ port }) => port));
  const endMs = performance.now() + 6 * maxConnectionAgeMs;
  const isEnough = () => handledBy(replicas) >= 2_000 && performance.now() > endMs;
  await callUntil(isEnough, () => decisions.recordDecision(RECORD_DECISION, CONTEXT));
});

// macOS listens only on 127.0.0.1 unless other loopback addresses are configured.
test.skipIf(process.platform === 'darwin')(
  'when the only known replica stops, calls wait until its successor has been looked up, and none fails',
  async () => {
    const resolved = Promise.withResolvers<void>();
    let address = '127.0.0.1';
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation((async () => {
      if (address !== '127.0.0.1') await resolved.promise;
      return [{ address, family: 4 }];
    }) as never);
    const first = await startTestReplica();
    const decisions = connectToAddress(`dns:///decisions.test:${first.port}`);
    const call = () => decisions.getDecision(GET_DECISION, CONTEXT);
    await call();

    address = '127.0.0.2';
    const successor = await startTestReplica({ host: address, port: first.port });
    const lookups = lookup.mock.calls.length;
    await first.close();
    await expect.poll(() => lookup.mock.calls.length).toBeGreaterThan(lookups);
    const calls = Array.from({ length: 20 }, call);
    // Longer than the retries of a call.
    setTimeout(resolved.resolve, 1_000);
    await Promise.all(calls);
    expect(successor.handled).toHaveLength(20);
  },
);

// macOS listens only on 127.0.0.1 unless other loopback addresses are configured.
test.skipIf(process.platform === 'darwin')(
  'a new replica gets its share once the connections reach their maximum age',
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
    const decisions = connectToAddress(`dns:///decisions.test:${port}`);
    const call = () => decisions.getDecision(GET_DECISION, CONTEXT);
    await callUntil(() => handledBy(old) >= 100, call);

    const fresh = await start('127.0.0.3', port);
    addresses.push('127.0.0.3');
    await callUntil(() => fresh.handled.length > 0, call);
    const all = [...old, fresh];
    for (const { handled } of all) handled.length = 0;
    await callUntil(() => handledBy(all) >= 600, call);
    expect(smallestShare(all)).toBeGreaterThan(0.2);
  },
);
