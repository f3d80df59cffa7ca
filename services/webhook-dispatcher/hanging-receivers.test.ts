import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestWorld, type TestWorld, upTo } from './test-fixture.ts';
import { hang } from './test-receiver.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await createTestWorld();
});
afterEach(() => world.close());

describe('receivers that hang', () => {
  it('keep nothing from their neighbours, though they could fill every place', async () => {
    const hanging = await Promise.all(upTo(4).map(() => world.receiver()));
    for (const { behave } of hanging) behave(hang);
    const healthy = await Promise.all(upTo(4).map(() => world.receiver()));
    const { bus, metrics } = await world.start({
      MAX_IN_FLIGHT: '12',
      DELIVERY_DEADLINE: '30s',
      // None ends by itself while they hang, however busy the machine.
      LEASE: '30s',
    });
    for (const _ of upTo(4)) {
      await bus.publish(upTo(25).map(() => world.event({ applicationId: randomUUID() })));
    }
    await vi.waitFor(
      () => {
        for (const { received } of healthy) expect(received).toHaveLength(100);
      },
      { timeout: 20_000, interval: 20 },
    );
    for (const { received } of hanging) expect(received).toHaveLength(2);
    // What has no place stays in the database: few are held for a destination that does not answer.
    const inHand = async () => {
      return Number(/creditlane_webhook_in_hand (\d+)/.exec(await metrics())?.[1]);
    };
    // Those that arrived are in hand until their results are written.
    await expect.poll(inHand).toBeLessThanOrEqual(4 * 8);
  });
});
