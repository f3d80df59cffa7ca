import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../test-fixture.ts';
import { accept } from '../test-receiver.ts';
import { startBesideHostile } from './test-hostile-destinations.ts';

const EVENTS = 20;
const LEASE_MS = 2_000;

test('beside four hostile destinations another gets each event once, and no lease ends', async () => {
  const { ordinary, logged, publish, ordinaryFences } = await startBesideHostile(`${LEASE_MS}ms`);
  let waitMs = 1.5 * LEASE_MS;
  // The lease of the first delivery that comes ends before its answer, unless it is renewed.
  ordinary.respondWith(async (received, response) => {
    const ownWaitMs = waitMs;
    waitMs = 0;
    await delay(ownWaitMs);
    accept(received, response);
  });
  await publish(EVENTS);
  // One lease and one result each: a delivery whose lease ends is leased again.
  const once = { state: 'delivered', fence: 2, count: EVENTS };
  await until(async () => expect(await ordinaryFences()).toEqual([once]));
  expect(new Set(ordinary.received.map(({ headers }) => headers['webhook-id'])).size).toBe(EVENTS);
  expect(ordinary.received).toHaveLength(EVENTS);
  expect(logged()).not.toContainEqual(
    expect.objectContaining({ msg: 'leases could not be renewed' }),
  );
});
