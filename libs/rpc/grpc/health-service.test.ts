// grpc.health.v1, which probes and load balancers call without a token.
import { Code } from '@connectrpc/connect';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import {
  Health as HealthService,
  HealthCheckResponse_ServingStatus as Status,
} from '@creditlane/proto/grpc/health/v1/health';
import { Health } from '@creditlane/runtime/health';
import { expect, test, vi } from 'vitest';
import { MAX_WATCHERS } from './health-service.ts';
import { connectPlainClient } from './test-plain-client.ts';
import { startTestReplica } from './test-replica.ts';

const service = DecisionsService.typeName;

async function open() {
  const health = new Health();
  const database = { error: '' };
  health.add('database', () => database.error || true);
  const replica = await startTestReplica({ health });
  return { health, database, replica, probe: connectPlainClient(HealthService, replica.port) };
}

test('while the process is ready: the server and each of its services are SERVING', async () => {
  const { probe } = await open();
  const serving = { status: Status.SERVING };
  expect(await probe.check({})).toMatchObject(serving);
  expect(await probe.check({ service })).toMatchObject(serving);
  expect((await probe.list({})).statuses).toMatchObject({ '': serving, [service]: serving });
});

test('while a dependency is unavailable, and once the process drains: NOT_SERVING', async () => {
  const { probe, health, database } = await open();
  database.error = 'unavailable';
  expect(await probe.check({ service })).toMatchObject({ status: Status.NOT_SERVING });
  database.error = '';
  expect(await probe.check({ service })).toMatchObject({ status: Status.SERVING });
  health.drain();
  expect(await probe.check({})).toMatchObject({ status: Status.NOT_SERVING });
});

test('Check of a service that is not served here: NOT_FOUND', async () => {
  const { probe } = await open();
  const answer = probe.check({ service: 'unknown.Service' });
  await expect(answer).rejects.toMatchObject({ code: Code.NotFound });
});

test('Watch sends each change of the status', async () => {
  const { probe, database } = await open();
  const received: Status[] = [];
  for await (const { status } of probe.watch({ service })) {
    received.push(status);
    if (received.length === 3) break;
    database.error = status === Status.SERVING ? 'unavailable' : '';
  }
  expect(received).toEqual([Status.SERVING, Status.NOT_SERVING, Status.SERVING]);
});

test('a server that closes ends the Watch calls, which would keep it open', async () => {
  const { probe, replica } = await open();
  const received: Status[] = [];
  for await (const { status } of probe.watch({ service: 'unknown.Service' })) {
    received.push(status);
    await replica.close();
  }
  expect(received).toEqual([Status.SERVICE_UNKNOWN]);
});

test('Watch is refused beyond a number of calls, which all share one reading of the status', async () => {
  const { health, probe, replica } = await open();
  const controller = new AbortController();
  const watch = async () => {
    const watched = probe.watch({ service }, { signal: controller.signal });
    const received = watched[Symbol.asyncIterator]();
    await received.next();
    return received;
  };
  const watches = await Promise.all(Array.from({ length: MAX_WATCHERS }, watch));
  await expect(watch()).rejects.toMatchObject({ code: Code.ResourceExhausted });

  const ready = vi.spyOn(health, 'ready');
  const changes = watches.map((it) => it.next());
  health.drain();
  await Promise.all(changes);
  expect(ready.mock.calls.length).toBeLessThan(watches.length);

  controller.abort();
  await vi.waitFor(async () => {
    for await (const { status } of probe.watch({})) {
      expect(status).toBe(Status.NOT_SERVING);
      break;
    }
  }, 15_000);
  await replica.close();
});
