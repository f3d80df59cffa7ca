import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../test-fixture.ts';
import { accept } from '../test-receiver.ts';
import { startBesideHostile } from './test-hostile-destinations.ts';

const EVENTS = 20;
const LEASE_MS = 2_000;

test('beside four hostile destinations another gets each event once, and no lease ends', async () => {
  const { ordinary, logged, publish } = await startBesideHostile(`${LEASE_MS}ms`);
  let answered = 0;
  let longestMs = 1.5 * LEASE_MS;
  // The lease of the first delivery that comes ends before its answer, unless it is renewed; then the delivery is sent again.
  ordinary.respondWith(async (received, response) => {
    const waitMs = longestMs;
    longestMs = 0;
    await delay(waitMs);
    accept(received, response);
    answered += 1;
  });
  await publish(EVENTS);
  await until(() => expect(answered).toBeGreaterThanOrEqual(EVENTS));
  expect(new Set(ordinary.received.map(({ headers }) => headers['webhook-id'])).size).toBe(EVENTS);
  expect(ordinary.received).toHaveLength(EVENTS);
  expect(logged()).not.toContainEqual(
    expect.objectContaining({ msg: 'leases could not be renewed' }),
  );
});
