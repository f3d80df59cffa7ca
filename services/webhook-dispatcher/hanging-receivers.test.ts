import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createTestFixture, type TestFixture, upTo } from './test-fixture.ts';
import { hang } from './test-receiver.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

test('receivers that hang do not delay deliveries to others, though their deliveries would use up MAX_IN_FLIGHT', async () => {
  const hanging = await Promise.all(upTo(4).map(() => fixture.addReceiver()));
  for (const { respondWith } of hanging) respondWith(hang);
  const healthy = await Promise.all(upTo(4).map(() => fixture.addReceiver()));
  const { bus, metrics } = await fixture.start({
    MAX_IN_FLIGHT: '12',
    DELIVERY_DEADLINE: '60s',
  });
  for (const _ of upTo(4)) {
    await bus.publish(upTo(10).map(() => fixture.event({ applicationId: randomUUID() })));
  }
  await vi.waitFor(
    () => {
      for (const { received } of healthy) expect(received).toHaveLength(40);
    },
    { timeout: 18_000, interval: 20 },
  );
  for (const { received } of hanging) expect(received.length).toBeLessThanOrEqual(2);
  // Few deliveries are queued for a destination that does not answer; the others stay in the database.
  const queueSize = async () => {
    return Number(/creditlane_webhook_in_hand (\d+)/.exec(await metrics())?.[1]);
  };
  // Delivered ones are in the queue until their results are written. Each destination may have 3; an intake and a
  // claim that run at the same time may both use up this capacity.
  await expect.poll(queueSize).toBeLessThanOrEqual(4 * 2 * 3);
});

test('receivers that hang and use up MAX_IN_FLIGHT delay new receivers no longer than until their requests are slow', async () => {
  const hanging = await Promise.all(upTo(3).map(() => fixture.addReceiver()));
  for (const { respondWith } of hanging) respondWith(hang);
  const { bus } = await fixture.start({
    MAX_IN_FLIGHT: '2',
    DELIVERY_DEADLINE: '60s',
  });
  await bus.publish([fixture.event({ applicationId: randomUUID() })]);
  const healthy = await fixture.addReceiver();
  await bus.publish(upTo(3).map(() => fixture.event({ applicationId: randomUUID() })));
  await expect.poll(() => healthy.received.length, { timeout: 20_000 }).toBe(3);
  for (const { received } of hanging) expect(received.length).toBeLessThanOrEqual(2);
});
