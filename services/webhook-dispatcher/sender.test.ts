import { createLog } from '@creditlane/runtime/log';
import pg from 'pg';
import { expect, it, vi } from 'vitest';
import type { Attempt } from './attempt.ts';
import type { Delivery } from './delivery.ts';
import type { Entry } from './recorder.ts';
import { Sender } from './sender.ts';

const delivery: Delivery = {
  id: 'delivery',
  fence: 1,
  attempts: 0,
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
  const take = (one: Delivery) => sender.take([one], performance.now());
  return { sender, attempt, attempted, record, recorded, take };
}

it('a delivery that is under way is not begun again, and its result counts under the new lease', async () => {
  const { sender, attempt, attempted, record, recorded, take } = start();
  take(delivery);
  take(later);
  attempted.resolve();
  await vi.waitFor(() => expect(record).toHaveBeenCalledOnce());
  expect(record).toHaveBeenCalledWith({ result: expect.objectContaining({ delivery: later }) });
  recorded.resolve();
  await vi.waitFor(() => expect(sender.inHand).toBe(0));
  expect(attempt).toHaveBeenCalledOnce();
  await sender.close();
});

it('a delivery whose result is being written is not begun again', async () => {
  const { sender, attempt, attempted, record, recorded, take } = start();
  take(delivery);
  attempted.resolve();
  await vi.waitFor(() => expect(record).toHaveBeenCalledOnce());
  take(later);
  recorded.resolve();
  await vi.waitFor(() => expect(sender.inHand).toBe(0));
  expect(attempt).toHaveBeenCalledOnce();
  await sender.close();
});

it('a delivery that arrived is not begun again by a claim that was answered late', async () => {
  const { sender, attempt, attempted, recorded, take } = start();
  attempted.resolve();
  recorded.resolve();
  take(delivery);
  await vi.waitFor(() => expect(sender.inHand).toBe(0));
  take(later);
  expect(sender.inHand).toBe(0);
  expect(attempt).toHaveBeenCalledOnce();
  await sender.close();
});

it('a delivery that failed comes back', async () => {
  const { sender, attempt, attempted, recorded, take } = start('due');
  attempted.resolve();
  recorded.resolve();
  take(delivery);
  await vi.waitFor(() => expect(sender.inHand).toBe(0));
  take(later);
  await vi.waitFor(() => expect(attempt).toHaveBeenCalledTimes(2));
  await vi.waitFor(() => expect(sender.inHand).toBe(0));
  await sender.close();
});
