import { randomUUID } from 'node:crypto';
import { DeliveryState, WebhooksService } from '@creditlane/proto/webhooks/v1/webhooks_service';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTestFixture, sequences, type TestFixture, upTo } from './test-fixture.ts';
import { answer, startReceiver } from './test-receiver.ts';

const until = <T>(check: () => T) => vi.waitFor(check, { timeout: 10_000, interval: 10 });
const operator = {
  identity: { kind: 'platform', subject: 'op', permissions: ['MANAGE_INTEGRATIONS'] },
} as const;
const DISABLED = 'creditlane_webhook_disabled_destinations';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

async function statesOfDeliveries() {
  const { rows } = await fixture.sql.query(
    'SELECT state, reason FROM deliveries ORDER BY position',
  );
  return rows.map(({ state, reason }) => (reason === null ? state : `${state}: ${reason}`));
}

it('a destination that answers 410 gets no further webhook', async () => {
  const { received, respondWith } = await fixture.addReceiver();
  respondWith(answer(410));
  const { bus, settled } = await fixture.start();
  await bus.publish(upTo(3).map((sequence) => fixture.event({ sequence })));
  await settled();
  await bus.publish([fixture.event({ sequence: 4 })]);
  await settled();
  expect(received).toHaveLength(1);
  const disabled = 'dead: destination_disabled';
  expect(await statesOfDeliveries()).toEqual(['dead: gone', disabled, disabled, disabled]);
});

it('a disabled destination is in the log, the metrics and the list of deliveries', async () => {
  const { respondWith, destinationId } = await fixture.addReceiver();
  const { bus, settled, metrics, logged, clients } = await fixture.start();
  expect(await metrics()).toContain(`${DISABLED} 0`);
  respondWith(answer(410));
  await bus.publish([fixture.event()]);
  await settled();
  expect(await metrics()).toContain(`${DISABLED} 1`);
  expect(logged()).toContainEqual(
    expect.objectContaining({ level: 'warn', destinationId, reason: 'gone' }),
  );
  const { deliveries } = await clients(WebhooksService, 'gateway').listDeliveries(
    { limit: 10 },
    operator,
  );
  expect(deliveries).toMatchObject([
    { state: DeliveryState.DEAD, reason: 'gone', destinationDisabledReason: 'gone' },
  ]);
});

it('a pending delivery that is dead because its destination is disabled has no next attempt', async () => {
  const { respondWith } = await fixture.addReceiver();
  respondWith(answer(500));
  const { bus, settled, clients } = await fixture.start({ RETRY_DELAYS: '1h' });
  await bus.publish([fixture.event()]);
  await settled();
  respondWith(answer(410));
  await bus.publish([fixture.event({ applicationId: randomUUID() })]);
  await settled();
  const { deliveries } = await clients(WebhooksService, 'gateway').listDeliveries(
    { applicationId: fixture.applicationId, limit: 10 },
    operator,
  );
  expect(deliveries).toMatchObject([{ state: DeliveryState.DEAD, reason: 'destination_disabled' }]);
  expect(deliveries[0]?.nextAttemptAt).toBeUndefined();
});

it('a disabled destination that is set to a new URL gets later webhooks', async () => {
  const { respondWith, destinationId } = await fixture.addReceiver();
  respondWith(answer(410));
  const { bus, settled, metrics, clients } = await fixture.start();
  await bus.publish([fixture.event()]);
  await settled();
  const moved = await startReceiver();
  fixture.integrations.set(destinationId, moved.url);
  await bus.publish([fixture.event({ sequence: 2 }), fixture.event({ sequence: 3 })]);
  await settled();
  expect(sequences(moved.received)).toEqual([2, 3]);
  expect(await metrics()).toContain(`${DISABLED} 0`);
  const { deliveries } = await clients(WebhooksService, 'gateway').listDeliveries(
    { limit: 10 },
    operator,
  );
  expect(deliveries.map((one) => one.destinationDisabledReason)).toEqual(['', '', '']);
  await moved.close();
});

it('a 410 of the earlier URL does not disable a destination that was set to a new one in the meantime', async () => {
  const { respondWith, destinationId } = await fixture.addReceiver();
  const moved = await startReceiver();
  respondWith((_, response) => {
    fixture.integrations.set(destinationId, moved.url);
    response.writeHead(410).end();
  });
  const { bus, settled } = await fixture.start({ DESTINATIONS_CACHE: '1s' });
  await bus.publish([fixture.event(), fixture.event({ sequence: 2 })]);
  await until(() => expect(sequences(moved.received)).toEqual([1, 2]));
  await settled();
  expect(await statesOfDeliveries()).toEqual(['delivered', 'delivered']);
  await moved.close();
});

it('a destination without a success for DISABLE_AFTER is disabled, and setting it again starts the time anew', async () => {
  const { respondWith, destinationId, url } = await fixture.addReceiver();
  respondWith(answer(500));
  const { bus, logged } = await fixture.start({
    DISABLE_AFTER: '1h',
    RETRY_DELAYS: '100ms,100ms,100ms',
  });
  await fixture.sql.query(
    `INSERT INTO destination_states (destination_id, failing_since)
     VALUES ($1, now() - interval '2 hours')`,
    [destinationId],
  );
  await bus.publish([fixture.event()]);
  const state = async () => {
    const { rows } = await fixture.sql.query(
      `SELECT revision, disabled_reason, failing_since > now() - interval '1 hour' AS anew
       FROM destination_states`,
    );
    return rows;
  };
  await until(async () =>
    expect(await state()).toEqual([{ revision: 1, disabled_reason: 'no_success', anew: false }]),
  );
  await until(() =>
    expect(logged()).toContainEqual(
      expect.objectContaining({ level: 'warn', destinationId, reason: 'no_success' }),
    ),
  );
  fixture.integrations.set(destinationId, url);
  await bus.publish([fixture.event({ sequence: 2 })]);
  await until(async () =>
    expect(await state()).toEqual([{ revision: 2, disabled_reason: null, anew: true }]),
  );
});
