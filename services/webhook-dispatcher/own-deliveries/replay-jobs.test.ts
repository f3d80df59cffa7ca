import { randomUUID } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { type Replay, ReplayState } from '@creditlane/proto/webhooks/v1/deliveries_service';
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import type { CallContext } from '@creditlane/rpc/client';
import { NIL_UUID } from '@creditlane/runtime/ids';
import { describe, expect, test, vi } from 'vitest';
import { shareTestFixture } from '../replay-jobs/test-shared-fixture.ts';
import { insertReplayJob } from '../store/replay-jobs.ts';
import { addEndedDeliveries } from '../test-deliveries.ts';
import { type Dispatcher, type Receiver, until } from '../test-fixture.ts';
import { answer } from '../test-receiver.ts';
import { deliveriesClient, ownerOf } from './test-owner.ts';

const shared = shareTestFixture();
let dispatcher: Dispatcher;
const start = async (settings: Record<string, string> = {}) => {
  dispatcher = await shared.start(settings);
};

type Request = Parameters<ReturnType<typeof deliveriesClient>['replayDeliveries']>[0];

const FAST = { REPLAYS_PER_SECOND: '1000', RETRY_DELAYS: '20ms' };
/** One delivery in a slice, and one slice in a second. */
const SLOW = { ...FAST, REPLAYS_PER_SECOND: '1', MAX_IN_FLIGHT_PER_DESTINATION: '1' };

const ask = async (
  receiver: Pick<Receiver, 'destinationId'>,
  filter: Request['filter'] = {},
  context: Partial<CallContext> = {},
): Promise<Replay> => {
  const owner = { ...ownerOf(receiver), ...context };
  const { replay } = await deliveriesClient(dispatcher).replayDeliveries({ filter }, owner);
  return replay ?? expect.unreachable();
};

const read = async (receiver: Receiver, replayId: string) => {
  const { replay } = await deliveriesClient(dispatcher).getReplay({ replayId }, ownerOf(receiver));
  return replay ?? expect.unreachable();
};

const countOf = async (condition: string): Promise<number> => {
  const { rows } = await shared.fixture.sql.query(
    `SELECT count(*)::int FROM deliveries WHERE ${condition}`,
  );
  return rows[0].count;
};

const refusal = (code: string, kind = 'conflict') => expect.objectContaining({ kind, code });

describe('a replay of many deliveries', () => {
  test('sends every dead delivery of the destination once more, and no other', async () => {
    const receiver = await shared.fixture.addReceiver();
    const other = await shared.fixture.addReceiver();
    await start(FAST);
    await addEndedDeliveries(shared.fixture, { ...receiver, count: 40, applications: 7 });
    await addEndedDeliveries(shared.fixture, { ...receiver, count: 3, state: 'delivered' });
    await addEndedDeliveries(shared.fixture, { ...other, count: 3 });
    const asked = await ask(receiver);
    expect(asked).toMatchObject({
      state: ReplayState.COUNTING,
      filter: { state: DeliveryState.DEAD, event: '' },
    });
    await dispatcher.settled();
    expect(await read(receiver, asked.replayId)).toMatchObject({
      state: ReplayState.COMPLETED,
      matched: 40,
      replayed: 40,
      skipped: 0,
      remaining: 0,
      finishedAt: expect.anything(),
    });
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect([ids.length, new Set(ids).size]).toEqual([40, 40]);
    expect(other.received).toEqual([]);
    expect(await countOf(`replays = 1 AND state = 'delivered' AND attempts = 2`)).toBe(40);
    const metrics = await dispatcher.metrics();
    expect(metrics).toMatch(/webhook_replayed_deliveries_total(\{.*\})? 40/);
    expect(metrics).toMatch(/webhook_ended_replays_total\{.*state="completed".*\} 1/);
    expect(metrics).toMatch(/webhook_unfinished_replays(\{.*\})? 0/);
    const integrationId = receiver.destinationId;
    const about = { replayId: asked.replayId, integrationId, destinationId: integrationId };
    expect(dispatcher.logged()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ ...about, msg: 'a replay of deliveries is requested' }),
        expect.objectContaining({
          ...about,
          msg: 'a replay of deliveries has ended',
          state: 'completed',
          replayed: 40,
        }),
      ]),
    );
  });

  test('takes the deliveries of its state, event and time range, and leaves the others', async () => {
    const receiver = await shared.fixture.addReceiver();
    await start(FAST);
    const at = (time: string) => new Date(`2026-03-02T${time}.000Z`);
    const event = 'applicationDeclined';
    const early = { ...receiver, count: 5, createdAt: at('10:00:00') };
    await addEndedDeliveries(shared.fixture, early);
    await addEndedDeliveries(shared.fixture, { ...early, event });
    await addEndedDeliveries(shared.fixture, { ...early, state: 'delivered', event });
    const filter = {
      event,
      createdFrom: timestampFromDate(at('10:00:02')),
      createdBefore: timestampFromDate(at('10:00:05')),
    };
    const dead = await ask(receiver, filter);
    expect(dead.filter).toMatchObject({ ...filter, state: DeliveryState.DEAD });
    await dispatcher.settled();
    expect(await read(receiver, dead.replayId)).toMatchObject({ replayed: 3 });
    expect(await countOf('replays = 1')).toBe(3);
    const state = DeliveryState.DELIVERED;
    const delivered = await ask(receiver, { ...filter, state });
    await dispatcher.settled();
    // The three that were dead are delivered now.
    expect(await read(receiver, delivered.replayId)).toMatchObject({ replayed: 6 });
    const { rows } = await shared.fixture.sql.query(
      `SELECT event, count(*)::int FROM deliveries JOIN messages USING (event_id)
       WHERE replays > 0 GROUP BY event`,
    );
    expect(rows).toEqual([{ event, count: 6 }]);
  });

  test('of nothing ends at once', async () => {
    const receiver = await shared.fixture.addReceiver();
    await start(FAST);
    const { replayId } = await ask(receiver);
    await dispatcher.settled();
    const expected = { state: ReplayState.COMPLETED, matched: 0, replayed: 0, remaining: 0 };
    expect(await read(receiver, replayId)).toMatchObject(expected);
  });

  test('skips deliveries that cannot be sent or were replayed a hundred times', async () => {
    const receiver = await shared.fixture.addReceiver();
    await start(FAST);
    await addEndedDeliveries(shared.fixture, { ...receiver, count: 4 });
    const first = '(SELECT id FROM deliveries ORDER BY position LIMIT 1)';
    await shared.fixture.sql.query(`UPDATE deliveries SET sequence = NULL WHERE id = ${first}`);
    await shared.fixture.sql.query(
      `UPDATE deliveries SET replays = 100
       WHERE id = (SELECT id FROM deliveries ORDER BY position DESC LIMIT 1)`,
    );
    const { replayId } = await ask(receiver);
    await dispatcher.settled();
    const expected = { state: ReplayState.COMPLETED, matched: 4, replayed: 2, skipped: 2 };
    expect(await read(receiver, replayId)).toMatchObject(expected);
    expect(receiver.received).toHaveLength(2);
  });

  test('whose deliveries fail again ends, and leaves them dead', async () => {
    const receiver = await shared.fixture.addReceiver();
    receiver.respondWith(answer(400));
    await start(FAST);
    await addEndedDeliveries(shared.fixture, { ...receiver, count: 3 });
    const { replayId } = await ask(receiver);
    await dispatcher.settled();
    await until(async () => expect(await countOf(`state = 'dead' AND attempts = 3`)).toBe(3));
    const expected = { state: ReplayState.COMPLETED, replayed: 3, remaining: 0 };
    expect(await read(receiver, replayId)).toMatchObject(expected);
    expect(await countOf('replays = 1')).toBe(3);
  });

  test('repeated with its idempotency key, even at the same time, begins once', async () => {
    const receiver = await shared.fixture.addReceiver();
    await start(FAST);
    await addEndedDeliveries(shared.fixture, { ...receiver, count: 3 });
    const onReplayed = vi.fn();
    const again = () => ask(receiver, {}, { idempotencyKey: 'once', onReplayed });
    const both = await Promise.all([again(), again()]);
    await dispatcher.settled();
    expect(await again()).toEqual(both[0]);
    expect(both[1]).toEqual(both[0]);
    expect(onReplayed).toHaveBeenCalledTimes(2);
    await dispatcher.settled();
    expect(receiver.received).toHaveLength(3);
  });

  test('that is cancelled replays no more', async () => {
    const receiver = await shared.fixture.addReceiver();
    await start(SLOW);
    await addEndedDeliveries(shared.fixture, { ...receiver, count: 50 });
    const { replayId } = await ask(receiver);
    await until(() => expect(receiver.received.length).toBeGreaterThan(0));
    const client = deliveriesClient(dispatcher);
    const cancel = () => client.cancelReplay({ replayId }, ownerOf(receiver));
    const { replay } = await cancel();
    expect(replay).toMatchObject({ state: ReplayState.CANCELLED, matched: 50 });
    expect(replay?.remaining).toBe(50 - (replay?.replayed ?? 0));
    expect(await cancel()).toMatchObject({ replay });
    await dispatcher.settled();
    expect(receiver.received).toHaveLength(replay?.replayed ?? 0);
    expect((await ask(receiver)).state).toBe(ReplayState.COUNTING);
  });
});

describe('a replay of many deliveries is refused', () => {
  test('while another one to the destination is not finished, and not for other destinations', async () => {
    const receiver = await shared.fixture.addReceiver();
    await start(SLOW);
    await addEndedDeliveries(shared.fixture, { ...receiver, count: 50 });
    const { replayId } = await ask(receiver);
    const error = await ask(receiver).catch((fault) => fault);
    expect(error).toEqual(refusal('replay_under_way'));
    expect(error.message).toContain(replayId);
    await ask(await shared.fixture.addReceiver());
    const both = await shared.fixture.addReceiver();
    await addEndedDeliveries(shared.fixture, { ...both, count: 50 });
    const asked = await Promise.allSettled([1, 2].map(() => ask(both)));
    expect(asked.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('while a replay by the platform runs, and says so', async () => {
    const receiver = await shared.fixture.addReceiver();
    const { destinationId } = receiver;
    await start(SLOW);
    await addEndedDeliveries(shared.fixture, { ...receiver, count: 50 });
    await insertReplayJob(shared.fixture.sql, {
      ...{ id: randomUUID(), integrationId: NIL_UUID, destinationId, deliveryState: 'dead' },
      ...{ event: null, createdFrom: null, createdBefore: null },
    });
    const error = await ask(receiver).catch((fault) => fault);
    expect(error).toEqual(refusal('replay_under_way'));
    expect(error.message).toContain('by the platform');
  });

  test('for a range without a time in it, and names the field', async () => {
    const receiver = await shared.fixture.addReceiver();
    await start();
    const createdFrom = timestampFromDate(new Date('2026-03-02T10:00:00Z'));
    const asked = ask(receiver, { createdFrom, createdBefore: createdFrom });
    await expect(asked).rejects.toMatchObject({
      kind: 'invalid',
      code: 'invalid_range',
      fields: [{ pointer: '/filter/createdBefore', message: 'must be later than createdFrom' }],
    });
  });

  test('while the destination is disabled, and stops when it is disabled or removed meanwhile', async () => {
    const receiver = await shared.fixture.addReceiver();
    await start(SLOW);
    await addEndedDeliveries(shared.fixture, { ...receiver, count: 20 });
    receiver.respondWith(answer(410));
    const { replayId } = await ask(receiver);
    const stopped = (reason: string) => ({ state: ReplayState.STOPPED, reason });
    await until(async () =>
      expect(await read(receiver, replayId)).toMatchObject(stopped('destination_disabled')),
    );
    expect(receiver.received).toHaveLength(1);
    await expect(ask(receiver)).rejects.toEqual(refusal('destination_disabled'));

    receiver.respondWith(answer(204));
    shared.fixture.integrations.set(receiver.destinationId, receiver.url);
    const next = await ask(receiver);
    shared.fixture.integrations.destinations.delete(receiver.destinationId);
    await until(async () =>
      expect(await read(receiver, next.replayId)).toMatchObject(stopped('destination_removed')),
    );
    const missing = refusal('destination_not_found', 'not_found');
    await expect(ask(receiver)).rejects.toEqual(missing);
  });

  test('only as long as the present destination is disabled, whichever is cached', async () => {
    const receiver = await shared.fixture.addReceiver();
    await start({ ...FAST, DESTINATIONS_CACHE: '1s' });
    await addEndedDeliveries(shared.fixture, { ...receiver, count: 5 });
    receiver.respondWith(answer(410));
    const { replayId } = await ask(receiver);
    await until(async () =>
      expect(await read(receiver, replayId)).toMatchObject({ state: ReplayState.STOPPED }),
    );
    shared.fixture.integrations.set(receiver.destinationId, receiver.url);
    receiver.respondWith(answer(204));
    const next = await ask(receiver);
    await until(async () =>
      expect(await read(receiver, next.replayId)).toMatchObject({ state: ReplayState.COMPLETED }),
    );
  });
});

test('a replay of many deliveries can be neither read nor cancelled by another integration, as if it did not exist', async () => {
  const receiver = await shared.fixture.addReceiver();
  await start(SLOW);
  await addEndedDeliveries(shared.fixture, { ...receiver, count: 20 });
  const { replayId } = await ask(receiver);
  const client = deliveriesClient(dispatcher);
  const other = ownerOf(await shared.fixture.addReceiver());
  for (const id of [replayId, randomUUID()]) {
    for (const method of ['getReplay', 'cancelReplay'] as const) {
      await expect(client[method]({ replayId: id }, other)).rejects.toMatchObject({
        kind: 'not_found',
        code: 'replay_not_found',
        message: 'There is no such replay.',
      });
    }
  }
  expect((await read(receiver, replayId)).finishedAt).toBeUndefined();
});
