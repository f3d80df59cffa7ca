// Answers of 410 that may be those of an earlier URL of the destination, or whose destination cannot be looked up.
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readStates } from '../test-deliveries.ts';
import { createTestFixture, sequences, type TestFixture, until, upTo } from '../test-fixture.ts';
import { startReceiver } from '../test-receiver.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

async function statusesOfAttempts() {
  const { rows } = await fixture.sql.query(
    'SELECT status FROM attempts JOIN deliveries ON id = delivery_id ORDER BY position, number',
  );
  return rows.map(({ status }) => status);
}

const statesOfDeliveries = () => readStates(fixture);

test('a 410 of the earlier URL does not disable a destination that was set to a new one in the meantime', async () => {
  const { respondWith, destinationId } = await fixture.addReceiver();
  const moved = await startReceiver();
  respondWith((_, response) => {
    fixture.integrations.set(destinationId, moved.url);
    response.writeHead(410).end();
  });
  // The webhook goes to the new URL at once, not after the delay of an hour.
  const { bus, settled, metrics } = await fixture.start({
    DESTINATIONS_CACHE: '1s',
    RETRY_DELAYS: '1h',
  });
  await bus.publish([fixture.event(), fixture.event({ sequence: 2 })]);
  await until(() => expect(sequences(moved.received)).toEqual([1, 2]));
  await settled();
  expect(await statesOfDeliveries()).toEqual(['delivered', 'delivered']);
  expect(await statusesOfAttempts()).toEqual([410, 204, 204]);
  expect(await metrics()).toContain('creditlane_webhook_attempts_total{outcome="retry"} 1');
  await moved.close();
});

test('410s of the earlier URL open no circuit breaker for the new one', async () => {
  const { received, respondWith, destinationId } = await fixture.addReceiver();
  const moved = await startReceiver();
  const waiting: ServerResponse[] = [];
  const { bus, metrics } = await fixture.start({ DESTINATIONS_CACHE: '1s', RETRY_DELAYS: '1h' });
  const publish = (count: number) =>
    bus.publish(upTo(count).map(() => fixture.event({ applicationId: randomUUID() })));
  // With each success the destination may have more requests at once.
  await publish(40);
  await until(() => expect(received).toHaveLength(40));
  respondWith((_, response) => void waiting.push(response));
  await publish(8);
  await until(() => expect(waiting).toHaveLength(8));
  fixture.integrations.set(destinationId, moved.url);
  for (const response of waiting) response.writeHead(410).end();
  const openBreakers = new Set<string | undefined>();
  await until(async () => {
    openBreakers.add(/webhook_breakers\{state="open"\} (\d+)/.exec(await metrics())?.[1]);
    expect(moved.received).toHaveLength(8);
  });
  expect([...openBreakers]).toEqual(['0']);
  await moved.close();
});

test('a 410 is an attempt also while the destination cannot be looked up, and disables it once it can', async () => {
  const { received, respondWith } = await fixture.addReceiver();
  respondWith((_, response) => {
    fixture.integrations.state.isUnavailable = received.length === 1;
    response.writeHead(410).end();
  });
  const { bus, settled } = await fixture.start({ DESTINATIONS_CACHE: '1s' });
  await bus.publish([fixture.event()]);
  await until(async () => expect(await statusesOfAttempts()).toEqual([410]));
  expect(await statesOfDeliveries()).toEqual(['due']);
  fixture.integrations.state.isUnavailable = false;
  await until(async () => expect(await statesOfDeliveries()).toEqual(['dead: gone']));
  await settled();
  expect(await statusesOfAttempts()).toEqual([410, 410]);
});
