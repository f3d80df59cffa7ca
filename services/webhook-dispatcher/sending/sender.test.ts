import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { Backlog } from '../queue/backlog.ts';
import type { Lane, LeasedDelivery } from '../queue/delivery.ts';
import { DeliveryQueue } from '../queue/delivery-queue.ts';
import { OpenBreakers } from '../queue/open-breakers.ts';
import { DestinationRates } from '../queue/rates/destination-rates.ts';
import { SLOW_MS } from '../queue/send-slots.ts';
import { leasedDelivery } from '../test-deliveries.ts';
import type { Attempt, AttemptRecord } from './attempt.ts';
import { DeferredResults } from './deferred-results.ts';
import { startSender } from './sender.ts';

const destinationId = 'destination';
const delivery = leasedDelivery({ id: 'delivery', destinationId });
const leasedAgain = { ...delivery, fence: 2 };

/** How an attempt ends; a slow one delivers. */
type AttemptEnd = 'delivered' | 'slow' | 'due';

/** A sender whose attempts and records end when the test says so: the first attempts with these ends, others delivered. */
function start(...ends: AttemptEnd[]) {
  const attempted = Promise.withResolvers<void>();
  const recorded = Promise.withResolvers<void>();
  const attempt = vi.fn<Attempt>(async (of) => {
    const end = ends.shift() ?? 'delivered';
    const state = end === 'due' ? 'due' : 'delivered';
    await attempted.promise;
    return {
      kind: 'tried',
      delivery: of,
      revision: 1,
      startedAt: new Date(0),
      durationMs: end === 'slow' ? SLOW_MS : 1,
      outcome: { kind: 'answered', status: state === 'delivered' ? 200 : 503 },
      state,
    };
  });
  const record = vi.fn((_: AttemptRecord) => recorded.promise);
  const onRefused = vi.fn((_: readonly LeasedDelivery[]) => undefined);
  const backlog = new Backlog();
  const queue = new DeliveryQueue({
    breakers: new OpenBreakers(),
    rates: new DestinationRates(),
    backlog,
    leaseMs: 60_000,
    maxInFlight: 10,
    maxInFlightPerDestination: 10,
    onRefused,
  });
  const defer = vi.fn(async (_lane: Lane, _isUrgent: boolean) => undefined);
  const turns = startSender({
    queue,
    attempt,
    deferredResults: { defer, recordDeferredOf: () => undefined },
    recorder: { record },
    takePermit: async () => undefined,
  });
  return {
    attempt,
    defer,
    record,
    onRefused,
    answer: () => attempted.resolve(),
    add: (one: LeasedDelivery, leasedAtMs = performance.now()) => queue.add([one], leasedAtMs),
    pause: () =>
      queue.shareBreakers([
        {
          destinationId,
          revision: 1,
          isDue: false,
          isProbed: false,
          isPaused: true,
          isUntried: false,
        },
      ]),
    recording: () => vi.waitFor(() => expect(record).toHaveBeenCalledOnce(), 15_000),
    async end() {
      attempted.resolve();
      recorded.resolve();
      await vi.waitFor(() => expect(queue.size).toBe(0), 15_000);
    },
    async close() {
      queue.close();
      await turns.close();
    },
  };
}

let sender: ReturnType<typeof start>;
afterEach(() => sender.close());

test('a delivery that is leased again while it is under way is attempted once, and recorded under the new lease', async () => {
  sender = start();
  sender.add(delivery);
  sender.add(leasedAgain);
  await sender.end();
  expect(sender.attempt).toHaveBeenCalledOnce();
  const result = expect.objectContaining({ delivery: leasedAgain });
  expect(sender.record).toHaveBeenCalledExactlyOnceWith(result);
});

test('a delivery that is leased again while its result is being written is attempted once', async () => {
  sender = start();
  sender.add(delivery);
  sender.answer();
  await sender.recording();
  sender.add(leasedAgain);
  await sender.end();
  expect(sender.attempt).toHaveBeenCalledOnce();
});

test('a replay that is claimed while a request from before it is under way is given back, and attempted when claimed again', async () => {
  sender = start('delivered', 'delivered');
  sender.add(delivery);
  const replayed = { ...delivery, fence: 3, replays: 1 };
  sender.add(replayed);
  expect(sender.onRefused).toHaveBeenCalledExactlyOnceWith([replayed]);
  await sender.end();
  expect(sender.record).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ delivery }));
  const claimedAgain = { ...replayed, fence: 5 };
  sender.add(claimedAgain);
  await sender.end();
  const result = expect.objectContaining({ delivery: claimedAgain });
  expect(sender.record).toHaveBeenLastCalledWith(result);
});

test('a delivery whose claim is answered after it was delivered is attempted once', async () => {
  sender = start();
  sender.add(delivery);
  await sender.end();
  sender.add(leasedAgain);
  await sender.end();
  expect(sender.attempt).toHaveBeenCalledOnce();
});

test('a delivery that failed and is leased again is attempted again', async () => {
  sender = start('due', 'due');
  sender.add(delivery);
  await sender.end();
  sender.add(leasedAgain);
  await sender.end();
  expect(sender.attempt).toHaveBeenCalledTimes(2);
});

test('a delivery may be sent while its lease lasts, and not any more after its end', async () => {
  sender = start();
  sender.add(delivery);
  const [, permission] = sender.attempt.mock.lastCall ?? [];
  expect(permission?.maySend()).toBe(true);
  // As if the process had been stopped: the latest lease of the delivery has ended.
  sender.add(leasedAgain, performance.now() - 60_000);
  expect(permission?.maySend()).toBe(false);
  sender.add(leasedAgain);
  expect(permission?.maySend()).toBe(true);
  await sender.end();
});

test('a delivery that was taken is not sent once its destination is paused', async () => {
  sender = start();
  sender.add(delivery);
  const [, permission] = sender.attempt.mock.lastCall ?? [];
  sender.pause();
  expect(permission?.maySend()).toBe(false);
  await sender.end();
});

test('the result of a success is urgent until its destination is known to answer again', async () => {
  sender = start('due');
  for (let n = 0; n < 3; n += 1) sender.add({ ...delivery, id: `delivery ${n}` });
  await sender.end();
  expect(sender.defer.mock.calls.map(([, isUrgent]) => isUrgent)).toEqual([true, false]);
});

test('the result of a slow success is urgent', async () => {
  sender = start('delivered', 'delivered', 'slow');
  for (let n = 0; n < 3; n += 1) sender.add({ ...delivery, id: `delivery ${n}` });
  await sender.end();
  expect(sender.defer.mock.calls.map(([, isUrgent]) => isUrgent)).toEqual([false, false, true]);
});

test('the result of a success is urgent while the next delivery to its destination waits for results', async () => {
  sender = start();
  for (let n = 0; n < 25; n += 1) sender.add({ ...delivery, id: `delivery ${n}` });
  sender.answer();
  await vi.waitFor(() => expect(sender.defer).toHaveBeenCalledTimes(20), 15_000);
  const isUrgent = sender.defer.mock.calls.map(([, urgent]) => urgent);
  expect([isUrgent[0], isUrgent.at(-1)]).toEqual([false, true]);
  await sender.end();
});

test('a failure is recorded at once', async () => {
  sender = start('due');
  sender.add(delivery);
  await sender.end();
  expect(sender.defer).not.toHaveBeenCalled();
});

/** A sender whose attempts succeed, and whose results are deferred until capacity is needed. */
function startDeferring() {
  const deferredResults = new DeferredResults(60_000);
  const backlog = new Backlog();
  const queue = new DeliveryQueue({
    breakers: new OpenBreakers(),
    rates: new DestinationRates(),
    backlog,
    leaseMs: 60_000,
    maxInFlight: 10,
    maxInFlightPerDestination: 3,
    onRefused: () => undefined,
  });
  const hanging = Promise.withResolvers<void>();
  const attempt = vi.fn<Attempt>(async (of) => {
    if (of.destinationId === 'hanging') await hanging.promise;
    return {
      kind: 'tried',
      delivery: of,
      revision: 1,
      startedAt: new Date(0),
      durationMs: 1,
      outcome: { kind: 'answered', status: 200 },
      state: 'delivered',
    };
  });
  const turns = startSender({
    queue,
    attempt,
    deferredResults,
    recorder: { record: async () => undefined },
    takePermit: async () => undefined,
  });
  return {
    queue,
    backlog,
    /** Sends deliveries, one after the other, until there are so many. */
    async sendUntil(count: number): Promise<void> {
      for (let n = attempt.mock.calls.length + 1; n <= count; n += 1) {
        const orderingKey = `application ${n}`;
        queue.add([{ ...delivery, id: orderingKey, orderingKey }], performance.now());
        await expect.poll(() => attempt.mock.calls.length).toBe(n);
      }
    },
    /** Uses up the capacity that is left by deliveries to a destination that does not answer. */
    fill() {
      for (let n = queue.size; n < 40; n += 1) {
        const of = { ...delivery, id: `hanging ${n}`, destinationId: 'hanging' };
        queue.add([of], performance.now());
      }
    },
    async close() {
      queue.close();
      await turns.close();
      deferredResults.close();
      hanging.resolve();
    },
  };
}

test('a delivery that comes while deferred results use up the capacity of its destination is sent at once', async () => {
  const deferring = startDeferring();
  await deferring.sendUntil(6);
  expect(deferring.queue.size).toBe(6);
  await deferring.sendUntil(7);
  await deferring.close();
});

test('a delivery that the queue has no capacity for has the deferred results recorded', async () => {
  const deferring = startDeferring();
  await deferring.sendUntil(6);
  deferring.backlog.add(['another', 'destination']);
  await expect.poll(() => deferring.queue.size).toBe(0);
  await deferring.close();
});

test('a delivery to another destination has the deferred results recorded only when the queue has no capacity left', async () => {
  const deferring = startDeferring();
  await deferring.sendUntil(6);
  deferring.backlog.add(['another']);
  await setImmediate();
  expect(deferring.queue.size).toBe(6);
  deferring.fill();
  deferring.backlog.add(['another']);
  await expect.poll(() => deferring.queue.size).toBe(34);
  await deferring.close();
});
