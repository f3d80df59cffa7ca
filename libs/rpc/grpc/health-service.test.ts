// What probes and balancers learn by grpc.health.v1; they have no token.
import { Code } from '@connectrpc/connect';
import { DecisionsService } from '@creditlane/proto/decisions/v1/decisions_service';
import {
  Health as HealthService,
  HealthCheckResponse_ServingStatus as Status,
} from '@creditlane/proto/grpc/health/v1/health';
import { Health } from '@creditlane/runtime/health';
import { expect, test } from 'vitest';
import { connectPlainClient } from './test-plain-client.ts';
import { startTestReplica } from './test-replica.ts';

const service = DecisionsService.typeName;

async function open() {
  const health = new Health();
  const database = { trouble: '' };
  health.add('database', () => database.trouble || true);
  const replica = await startTestReplica({ health });
  return { health, database, replica, probe: connectPlainClient(HealthService, replica.port) };
}

test('the server and each of its services are serving when the process is ready', async () => {
  const { probe } = await open();
  const serving = { status: Status.SERVING };
  expect(await probe.check({})).toMatchObject(serving);
  expect(await probe.check({ service })).toMatchObject(serving);
  expect((await probe.list({})).statuses).toMatchObject({ '': serving, [service]: serving });
});

test('nothing is serving while a dependency is away, or once the process drains', async () => {
  const { probe, health, database } = await open();
  database.trouble = 'away';
  expect(await probe.check({ service })).toMatchObject({ status: Status.NOT_SERVING });
  database.trouble = '';
  expect(await probe.check({ service })).toMatchObject({ status: Status.SERVING });
  health.drain();
  expect(await probe.check({})).toMatchObject({ status: Status.NOT_SERVING });
});

test('a service that is not served here is not found', async () => {
  const { probe } = await open();
  const answer = probe.check({ service: 'nobody.Knows' });
  await expect(answer).rejects.toMatchObject({ code: Code.NotFound });
});

test('who watches hears of each change', async () => {
  const { probe, database } = await open();
  const heard: Status[] = [];
  for await (const { status } of probe.watch({ service })) {
    heard.push(status);
    if (heard.length === 3) break;
    database.trouble = status === Status.SERVING ? 'away' : '';
  }
  expect(heard).toEqual([Status.SERVING, Status.NOT_SERVING, Status.SERVING]);
});

test('a server that closes ends the watching, which would keep it open', async () => {
  const { probe, replica } = await open();
  const heard: Status[] = [];
  for await (const { status } of probe.watch({ service: 'nobody.Knows' })) {
    heard.push(status);
    await replica.close();
  }
  expect(heard).toEqual([Status.SERVICE_UNKNOWN]);
});
