import { afterEach, expect, it, vi } from 'vitest';
import type { LeasedDelivery } from '../queue/delivery.ts';
import { DeliveryQueue } from '../queue/delivery-queue.ts';
import type { Attempt } from './attempt.ts';
import type { Entry } from './result-recorder.ts';
import { startSender } from './sender.ts';

const delivery: LeasedDelivery = {
  id: 'delivery',
  fence: 1,
  attempts: 0,
  replays: 0,
  orderingKey: 'application',
  destinationId: 'destination',
  event: 'applicationBooked',
  body: '{}',
  reference: null,
  sequence: 1,
  recordedAt: new Date(0),
  traceparent: null,
};
const leasedAgain = { ...delivery, fence: 2 };

/** A sender whose attempts and records end when the test says so, all with that state. */
function start(state: 'delivered' | 'due' = 'delivered') {
  const attempted = Promise.withResolvers<void>();
  const recorded = Promise.withResolvers<void>();
  const attempt = vi.fn<Attempt>(async (of) => {
    await attempted.promise;
    return {
      delivery: of,
      revision: 1,
      startedAt: new Date(0),
      durationMs: 1,
      outcome: { kind: 'answered', status: state === 'delivered' ? 200 : 503 },
      state,
    };
  });
  const record = vi.fn((_: Entry) => recorded.promise);
  const queue = new DeliveryQueue({
    leaseMs: 60_000,
    maxInFlight: 10,
    maxInFlightPerDestination: 10,
    onRefused: () => undefined,
  });
  startSender({ queue, attempt, recorder: { record } });
  return {
    attempt,
    record,
    answer: () => attempted.resolve(),
    add: (one: LeasedDelivery, leasedAtMs = performance.now()) => queue.add([one], leasedAtMs),
    recording: () => vi.waitFor(() => expect(record).toHaveBeenCalledOnce()),
    async end() {
      attempted.resolve();
      recorded.resolve();
      await vi.waitFor(() => expect(queue.size).toBe(0));
    },
    close: () => void queue.close(),
  };
}

let sender: ReturnType<typeof start>;
afterEach(() => sender.close());

it('a delivery that is leased again while it is under way is attempted once, and recorded under the new lease', async () => {
  sender = start();
  sender.add(delivery);
  sender.add(leasedAgain);
  await sender.end();
  expect(sender.attempt).toHaveBeenCalledOnce();
  const result = expect.objectContaining({ delivery: leasedAgain });
  expect(sender.record).toHaveBeenCalledExactlyOnceWith({ result });
});

it('a delivery that is leased again while its result is being written is attempted once', async () => {
  sender = start();
  sender.add(delivery);
  sender.answer();
  await sender.recording();
  sender.add(leasedAgain);
  await sender.end();
  expect(sender.attempt).toHaveBeenCalledOnce();
});

it('a delivery whose claim is answered after it was delivered is attempted once', async () => {
  sender = start();
  sender.add(delivery);
  await sender.end();
  sender.add(leasedAgain);
  await sender.end();
  expect(sender.attempt).toHaveBeenCalledOnce();
});

it('a delivery that failed and is leased again is attempted again', async () => {
  sender = start('due');
  sender.add(delivery);
  await sender.end();
  sender.add(leasedAgain);
  await sender.end();
  expect(sender.attempt).toHaveBeenCalledTimes(2);
});

it('a delivery may be sent while its lease lasts, and not any more after its end', async () => {
  sender = start();
  sender.add(delivery);
  const [, maySend] = sender.attempt.mock.lastCall ?? [];
  expect(maySend?.()).toBe(true);
  // As if the process had been stopped: the latest lease of the delivery has ended.
  sender.add(leasedAgain, performance.now() - 60_000);
  expect(maySend?.()).toBe(false);
  sender.add(leasedAgain);
  expect(maySend?.()).toBe(true);
  await sender.end();
});
