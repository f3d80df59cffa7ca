import { DeliveryState, WebhooksService } from '@creditlane/proto/webhooks/v1/webhooks_service';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createTestWorld, sequences, type TestWorld, upTo } from './test-fixture.ts';
import { answer, startReceiver } from './test-receiver.ts';

const until = <T>(check: () => T) => vi.waitFor(check, { timeout: 10_000, interval: 10 });
const operator = {
  identity: { kind: 'platform', subject: 'op', permissions: ['MANAGE_INTEGRATIONS'] },
} as const;
const DISABLED = 'creditlane_webhook_disabled_destinations';

let world: TestWorld;
beforeEach(async () => {
  world = await createTestWorld();
});
afterEach(() => world.close());

async function fatesOfDeliveries() {
  const { rows } = await world.sql.query('SELECT state, reason FROM deliveries ORDER BY position');
  return rows.map(({ state, reason }) => (reason === null ? state : `${state}: ${reason}`));
}

it('a destination that is gone (410) gets nothing more', async () => {
  const { received, behave } = await world.receiver();
  behave(answer(410));
  const { bus, settled } = await world.start();
  await bus.publish(upTo(3).map((sequence) => world.event({ sequence })));
  await settled();
  await bus.publish([world.event({ sequence: 4 })]);
  await settled();
  expect(received).toHaveLength(1);
  const disabled = 'dead: destination_disabled';
  expect(await fatesOfDeliveries()).toEqual(['dead: gone', disabled, disabled, disabled]);
});

it('that it is disabled is in the log, the metrics, and the list of deliveries', async () => {
  const { behave, destinationId } = await world.receiver();
  const { bus, settled, metrics, logged, clients } = await world.start();
  expect(await metrics()).toContain(`${DISABLED} 0`);
  behave(answer(410));
  await bus.publish([world.event()]);
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

it('set to a new URL, it is sent to again', async () => {
  const { behave, destinationId } = await world.receiver();
  behave(answer(410));
  const { bus, settled, metrics, clients } = await world.start();
  await bus.publish([world.event()]);
  await settled();
  const moved = await startReceiver();
  world.integrations.set(destinationId, moved.url);
  await bus.publish([world.event({ sequence: 2 }), world.event({ sequence: 3 })]);
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

it('is not disabled by what an earlier URL answers after it was set to a new one', async () => {
  const { behave, destinationId } = await world.receiver();
  const moved = await startReceiver();
  behave((_, response) => {
    world.integrations.set(destinationId, moved.url);
    response.writeHead(410).end();
  });
  const { bus, settled } = await world.start({ DESTINATIONS_CACHE: '1s' });
  await bus.publish([world.event(), world.event({ sequence: 2 })]);
  await until(() => expect(sequences(moved.received)).toEqual([1, 2]));
  await settled();
  expect(await fatesOfDeliveries()).toEqual(['delivered', 'delivered']);
  await moved.close();
});

it('without a success for too long it is disabled, and its patience begins anew when it is set', async () => {
  const { behave, destinationId, url } = await world.receiver();
  behave(answer(500));
  const { bus, logged } = await world.start({
    DISABLE_AFTER: '1h',
    RETRY_DELAYS: '100ms,100ms,100ms',
  });
  await world.sql.query(
    `INSERT INTO destination_states (destination_id, failing_since)
     VALUES ($1, now() - interval '2 hours')`,
    [destinationId],
  );
  await bus.publish([world.event()]);
  const state = async () => {
    const { rows } = await world.sql.query(
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
  world.integrations.set(destinationId, url);
  await bus.publish([world.event({ sequence: 2 })]);
  await until(async () =>
    expect(await state()).toEqual([{ revision: 2, disabled_reason: null, anew: true }]),
  );
});
