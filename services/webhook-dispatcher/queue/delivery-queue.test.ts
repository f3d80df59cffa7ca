import { expect, it, onTestFinished } from 'vitest';
import { DeliveryQueue } from './delivery-queue.ts';
import { testDelivery as delivery } from './test-delivery.ts';

const LEASE_MS = 6_000;
/** Longer than a test may take: an earlier end of the waiting is due to a signal. */
const NEVER_MS = 600_000;

function createQueue(): DeliveryQueue {
  const queue = new DeliveryQueue({
    leaseMs: LEASE_MS,
    maxInFlight: 10,
    maxInFlightPerDestination: 10,
    onRefused: () => undefined,
  });
  onTestFinished(() => void queue.close());
  return queue;
}

it.each<[string, (queue: DeliveryQueue) => void]>([
  [
    'whose lease ends before it is sent',
    (queue) => expect(queue.takeReady(performance.now() + LEASE_MS)).toBeUndefined(),
  ],
  ['of a disabled destination', (queue) => queue.drop([delivery.destinationId])],
])('a delivery %s leaves the queue, and its capacity is used again', async (_, remove) => {
  const queue = createQueue();
  queue.backlog.add([delivery.destinationId]);
  await queue.backlog.claimable.wait(NEVER_MS);
  queue.add([delivery], performance.now());
  const signals = [queue.waitForRemoval(NEVER_MS), queue.backlog.claimable.wait(NEVER_MS)];
  remove(queue);
  await Promise.all(signals);
  expect(queue.size).toBe(0);
});

it('a delivery behind one whose lease ends is sent', () => {
  const queue = createQueue();
  const nowMs = performance.now();
  queue.add([delivery], nowMs - LEASE_MS);
  queue.add([{ ...delivery, id: 'next' }], nowMs);
  expect(queue.takeReady(nowMs)?.delivery.id).toBe('next');
  expect(queue.size).toBe(1);
});
