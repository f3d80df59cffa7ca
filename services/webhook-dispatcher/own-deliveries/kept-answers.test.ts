import { createSecretKey, randomBytes } from 'node:crypto';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { dumpTables } from '@creditlane/postgres/test-table-dump';
import type { OwnDelivery } from '@creditlane/proto/webhooks/v1/deliveries_service';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exported } from '../events/test-exports.ts';
import { withSealedAnswer } from '../sending/sealed-answer.ts';
import { insertAnswersQueries } from '../store/attempt-answers.ts';
import { leasedDelivery, resultOf } from '../test-deliveries.ts';
import {
  createTestFixture,
  type Dispatcher,
  type Receiver,
  type TestFixture,
  until,
  upTo,
} from '../test-fixture.ts';
import type { Responder } from '../test-receiver.ts';
import { deliveriesClient, ownDeliveries, ownerOf } from './test-owner.ts';

const CANARY = 'the account of Maya Tremblay is closed';

let receiver: Receiver;
let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
  receiver = await fixture.addReceiver();
});
afterEach(() => fixture.close());

/** Answers with the status and a body. */
const say =
  (status: number, body: string | Buffer): Responder =>
  (_, response) =>
    void response.writeHead(status).end(body);

/** Answers a first request by the first of the responders, and so on; all further ones by the last. */
function respondInTurn(...responders: readonly Responder[]): void {
  let at = 0;
  receiver.respondWith((received, response) => {
    responders[Math.min(at, responders.length - 1)]?.(received, response);
    at += 1;
  });
}

/** The delivery, once it has so many attempts. */
async function afterAttempts(dispatcher: Dispatcher, count: number): Promise<OwnDelivery> {
  return until(async () => {
    const [delivery] = await ownDeliveries(dispatcher, receiver);
    expect(delivery?.attemptCount).toBe(count);
    return delivery as OwnDelivery;
  });
}

/** The answers to the attempts at the delivery, as its owner reads them. */
async function answersTo(
  dispatcher: Dispatcher,
  { deliveryId }: Pick<OwnDelivery, 'deliveryId'>,
): Promise<string[]> {
  const client = deliveriesClient(dispatcher);
  const { attempts } = await client.getOwnDelivery({ deliveryId }, ownerOf(receiver));
  return attempts.map(({ answer }) => answer);
}

/** A delivery whose first attempt was answered so, and is not repeated soon. */
async function deliverOnce(responder: Responder) {
  receiver.respondWith(responder);
  const dispatcher = await fixture.start({ RETRY_DELAYS: '1h' });
  await dispatcher.bus.publish([fixture.event()]);
  return { dispatcher, delivery: await afterAttempts(dispatcher, 1) };
}

/** The receiver's destination at the integrations service. */
function storedDestination() {
  const stored = fixture.integrations.destinations.get(receiver.destinationId);
  if (stored === undefined) throw new Error('the destination is there');
  return stored;
}

const countKept = async () =>
  (await fixture.sql.query('SELECT FROM attempt_answers')).rowCount ?? 0;

test('an attempt shows the first 2 KiB of an answer that is not 2xx, and nothing of one that is', async () => {
  const long = CANARY.repeat(200);
  respondInTurn(say(500, long), say(422, 'no'), say(200, CANARY));
  const dispatcher = await fixture.start();
  await dispatcher.bus.publish([fixture.event()]);
  await dispatcher.settled();
  const delivery = await afterAttempts(dispatcher, 3);
  expect(await answersTo(dispatcher, delivery)).toEqual([long.slice(0, 2_048), 'no', '']);
  expect(await countKept()).toBe(2);
});

test('no answer is in the clear in the database or the log', async () => {
  const { dispatcher, delivery } = await deliverOnce(say(500, CANARY));
  expect(await answersTo(dispatcher, delivery)).toEqual([CANARY]);
  const text = (await dumpTables(fixture.sql)) + JSON.stringify(dispatcher.logged());
  // The search finds what is stored in the clear.
  expect(text).toContain(delivery.deliveryId);
  for (const secret of [CANARY, 'Tremblay']) expect(text).not.toContain(secret);
});

test('the answer to a test event is not in the clear in the database, and a repeated call gets it until its secret signs no more', async () => {
  receiver.respondWith(say(400, CANARY));
  const dispatcher = await fixture.start();
  const { retailerId, creditorId, applicationId } = fixture;
  const payload = JSON.stringify({ retailerId, status: 'BOOKED', creditorId, applicationId });
  const send = () => {
    const call = { ...ownerOf(receiver), idempotencyKey: 'once' };
    return deliveriesClient(dispatcher).sendTestEvent(
      { event: 'applicationBooked', payload },
      call,
    );
  };
  const sent = await send();
  expect(sent.answer).toBe(CANARY);
  const text = await dumpTables(fixture.sql);
  // The search finds what is stored in the clear.
  expect(text).toContain(sent.webhookId);
  expect(text).not.toContain('Tremblay');
  expect(await send()).toEqual(sent);
  storedDestination().secrets = [randomBytes(32)];
  expect(await send()).toEqual({ ...sent, answer: '' });
});

test('nothing is kept of the answer to a webhook whose body is not stored', async () => {
  respondInTurn(say(500, CANARY));
  const dispatcher = await fixture.start({ RETRY_DELAYS: '1h' });
  const { destinationId } = receiver;
  await dispatcher.bus.publish([exported(fixture, { integrationId: destinationId })]);
  const delivery = await afterAttempts(dispatcher, 1);
  expect(await answersTo(dispatcher, delivery)).toEqual(['']);
  expect(await countKept()).toBe(0);
});

test.each([
  ['a cut character', Buffer.from(`${'a'.repeat(2_047)}é`), 'a'.repeat(2_047)],
  ['bytes that are no text', Buffer.from([0, 255, 27, 10, 240, 159, 34]), '\0\ufffd\x1b\n\ufffd"'],
  ['half a megabyte of zeros', Buffer.alloc(524_288), '\0'.repeat(2_048)],
])('an answer with %s is shown as text', async (_, body, shown) => {
  const { dispatcher, delivery } = await deliverOnce(say(500, body));
  expect(await answersTo(dispatcher, delivery)).toEqual([shown]);
});

test('each attempt shows its own answer, also those of a replay', async () => {
  const responders = [1, 2, 3, 4].map((n) => say(500 + n, `answer ${n}`));
  respondInTurn(...responders);
  const dispatcher = await fixture.start({ RETRY_DELAYS: '10ms' });
  await dispatcher.bus.publish([fixture.event()]);
  const delivery = await afterAttempts(dispatcher, 2);
  const { deliveryId } = delivery;
  await deliveriesClient(dispatcher).replayDelivery({ deliveryId }, ownerOf(receiver));
  await until(async () => {
    const answers = await answersTo(dispatcher, delivery);
    expect(answers).toEqual(['answer 1', 'answer 2', 'answer 3', 'answer 4']);
  });
});

test('of many answers, the latest 20 are shown', async () => {
  const { dispatcher, delivery } = await deliverOnce(say(500, 'answer 1'));
  const ids = { ...delivery, destinationId: receiver.destinationId };
  const further = upTo(21).map((n) => {
    const startedAt = new Date(Date.now() + n * 60_000);
    const outcome = { kind: 'answered', status: 500, bodyStart: `answer ${n + 1}` } as const;
    const posted = { outcome, startedAt, durationMs: 1 };
    const keys = [createSecretKey(receiver.secret)];
    const result = resultOf(leasedDelivery({ id: delivery.deliveryId }), 500);
    return { ...result, ...withSealedAnswer(posted, ids, keys) };
  });
  await fixture.sql.query(
    `INSERT INTO attempts (delivery_id, number, started_at, duration_ms, status)
     SELECT $1, 1 + n, at, 1, 500 FROM unnest($2::timestamptz[]) WITH ORDINALITY AS later (at, n)`,
    [delivery.deliveryId, further.map(({ startedAt }) => startedAt)],
  );
  await runPipeline(fixture.sql, insertAnswersQueries(further));
  const shown = upTo(20).map((n) => `answer ${n + 2}`);
  expect(await answersTo(dispatcher, delivery)).toEqual(['', '', ...shown]);
});

test('an answer is shown as long as the secret signs that was the newest when it came', async () => {
  const { dispatcher, delivery } = await deliverOnce(say(500, CANARY));
  const stored = storedDestination();
  const [secret] = stored.secrets as [Uint8Array];
  const next = randomBytes(32);
  for (const [secrets, shown] of [
    [[next, secret], CANARY],
    [[next], ''],
    [[], ''],
  ] as const) {
    stored.secrets = [...secrets];
    expect(await answersTo(dispatcher, delivery)).toEqual([shown]);
  }
});

test('an answer that was copied to another attempt, or changed, is not shown', async () => {
  const { dispatcher, delivery } = await deliverOnce(say(500, CANARY));
  const update = (text: string) => fixture.sql.query(`UPDATE attempt_answers SET ${text}`);
  await update('sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1)');
  expect(await answersTo(dispatcher, delivery)).toEqual(['']);
  await update('sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1)');
  expect(await answersTo(dispatcher, delivery)).toEqual([CANARY]);
  await fixture.sql.query("UPDATE attempts SET started_at = started_at + interval '1 ms'");
  await update("started_at = started_at + interval '1 ms'");
  expect(await answersTo(dispatcher, delivery)).toEqual(['']);
});

test('an answer is out of reach with the delivery: of another owner, and after the removal of the destination', async () => {
  const { dispatcher, delivery } = await deliverOnce(say(500, CANARY));
  const { deliveryId } = delivery;
  const other = await fixture.addReceiver();
  const read = (owner: { destinationId: string }) =>
    deliveriesClient(dispatcher).getOwnDelivery({ deliveryId }, ownerOf(owner));
  await expect(read(other)).rejects.toMatchObject({ code: 'delivery_not_found' });
  fixture.integrations.destinations.delete(receiver.destinationId);
  await expect(read(receiver)).rejects.toMatchObject({ code: 'delivery_not_found' });
});
