import { createLog } from '@creditlane/runtime/telemetry/log';
import pg from 'pg';
import { afterEach, expect, it, vi } from 'vitest';
import type { Delivery } from '../queue/delivery.ts';
import type { Attempt } from './attempt.ts';
import type { Entry } from './recorder.ts';
import { Sender } from './sender.ts';

const delivery: Delivery = {
  id: 'delivery',
  fence: 1,
  attempts: 0,
  applicationId: 'application',
  destinationId: 'destination',
  event: 'applicationBooked',
  body: '{}',
  sequence: 1,
  recordedAt: new Date(0),
  traceparent: null,
};
const later = { ...delivery, fence: 2 };

/** A sender whose attempts and records end when the test says so, and all in that state. */
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
  const sender = new Sender({
    // Never connected, for nothing is renewed or given back here.
    pool: new pg.Pool(),
    log: createLog('sender', { level: 'silent' }),
    attempt,
    recorder: { record },
    leaseMs: 60_000,
    maxInFlight: 10,
    maxInFlightPerDestination: 10,
    onRoom: () => undefined,
  });
  return {
    attempt,
    record,
    answer: () => attempted.resolve(),
    take: (one: Delivery) => sender.take([one], performance.now()),
    recording: () => vi.waitFor(() => expect(record).toHaveBeenCalledOnce()),
    async end() {
      attempted.resolve();
      recorded.resolve();
      await vi.waitFor(() => expect(sender.inHand).toBe(0));
    },
    close: () => sender.close(),
  };
}

let sender: ReturnType<typeof start>;
afterEach(() => sender.close());

it('a delivery that is under way is not begun again, and its result counts under the new lease', async () => {
  sender = start();
  sender.take(delivery);
  sender.take(later);
  await sender.end();
  expect(sender.attempt).toHaveBeenCalledOnce();
  const result = expect.objectContaining({ delivery: later });
  expect(sender.record).toHaveBeenCalledExactlyOnceWith({ result });
});

it('a delivery whose result is being written is not begun again', async () => {
  sender = start();
  sender.take(delivery);
  sender.answer();
  await sender.recording();
  sender.take(later);
  await sender.end();
  expect(sender.attempt).toHaveBeenCalledOnce();
});

it('a delivery that arrived is not begun again by a claim that was answered late', async () => {
  sender = start();
  sender.take(delivery);
  await sender.end();
  sender.take(later);
  await sender.end();
  expect(sender.attempt).toHaveBeenCalledOnce();
});

it('a delivery that failed comes back', async () => {
  sender = start('due');
  sender.take(delivery);
  await sender.end();
  sender.take(later);
  await sender.end();
  expect(sender.attempt).toHaveBeenCalledTimes(2);
});
