// What the log says of destinations that fail.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createTestFixture,
  type Dispatcher,
  type Receiver,
  type TestFixture,
  until,
  upTo,
} from '../test-fixture.ts';
import { answer } from '../test-receiver.ts';

let receiver: Receiver;
let fixture: TestFixture;
/** The destination, with its integration. */
let owned: object;
afterEach(() => fixture.close());
beforeEach(async () => {
  fixture = await createTestFixture();
  receiver = await fixture.addReceiver();
  const { destinationId } = receiver;
  // The id of a destination is also that of its integration.
  owned = { destinationId, integrationId: destinationId, integration: 'DealerDesk' };
});

const linesOf = ({ logged }: Dispatcher, msg: string) =>
  logged().filter((line) => 'msg' in line && line.msg === msg);

const publish = ({ bus }: Dispatcher, applications: number) =>
  bus.publish(upTo(applications).map(() => fixture.event({ applicationId: randomUUID() })));

test('a circuit breaker that opens and closes is one line each at info, of all replicas', async () => {
  receiver.respondWith(answer(500));
  const replicas = [await fixture.start(), await fixture.start()];
  const all = (msg: string) => replicas.flatMap((replica) => linesOf(replica, msg));
  const [opens, closes] = ['opens', 'closes'].map(
    (now) => `the circuit breaker of a webhook destination ${now}`,
  ) as [string, string];
  await publish(replicas[0] ?? expect.unreachable(), 6);
  await until(() => expect(all(opens)).toMatchObject([{ level: 'info', ...owned }]));
  expect(all(closes)).toEqual([]);
  receiver.respondWith(answer(204));
  await until(() => expect(all(closes)).toMatchObject([{ level: 'info', ...owned }]));
  for (const replica of replicas) await replica.settled();
  expect([all(opens).length, all(closes).length]).toEqual([1, 1]);
});

test('a lane that is held is a line at info once, and each failed attempt one at debug', async () => {
  receiver.respondWith(answer(400));
  const dispatcher = await fixture.start({ RETRY_DELAYS: '20ms,20ms' });
  await publish(dispatcher, 1);
  const attempts = () => linesOf(dispatcher, 'an attempt at a webhook has failed');
  await until(() => expect(attempts()).toHaveLength(3));
  const { rows } = await fixture.sql.query('SELECT id FROM deliveries');
  const deliveryId = rows[0].id;
  const failed = { level: 'debug', ...owned, deliveryId, event: 'applicationBooked', status: 400 };
  expect(attempts()).toMatchObject([
    { ...failed, attempt: 1, next: 'retry' },
    { ...failed, attempt: 2, next: 'retry' },
    { ...failed, attempt: 3, next: 'dead', reason: 'attempts_exhausted' },
  ]);
  const held = 'lanes of a webhook destination are held by webhooks that failed';
  const line = { level: 'info', ...owned, lanes: 1, deliveryIds: [deliveryId] };
  expect(linesOf(dispatcher, held)).toMatchObject([line]);
});

test('a destination that is disabled is a line at warn, with the name of its integration', async () => {
  receiver.respondWith(answer(410));
  const dispatcher = await fixture.start();
  await publish(dispatcher, 1);
  await until(() =>
    expect(linesOf(dispatcher, 'a webhook destination is disabled')).toMatchObject([
      { level: 'warn', ...owned, revision: 1, reason: 'gone' },
    ]),
  );
});

test('the log shows no URL of a destination, whose query may be a secret', async () => {
  fixture.integrations.set(receiver.destinationId, `${receiver.url}/?token=hunter2`);
  receiver.respondWith(answer(500));
  const dispatcher = await fixture.start({ RETRY_DELAYS: '20ms' });
  await publish(dispatcher, 6);
  await until(() => expect(receiver.received.length).toBeGreaterThan(5));
  await until(() => expect(dispatcher.logged().length).toBeGreaterThan(5));
  expect(receiver.received[0]?.path).toContain('hunter2');
  expect(JSON.stringify(dispatcher.logged())).not.toMatch(/hunter2|http:/);
});
