import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { silentLog } from '@creditlane/runtime/test-log';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openDispatcherDatabase } from '../test-deliveries.ts';
import { Backlog } from './backlog.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { OpenBreakers } from './open-breakers.ts';
import { DestinationRates } from './rates/destination-rates.ts';
import { startSharingBreakers } from './shared-breakers.ts';

test('a circuit breaker is written when it opens, without waiting for the next poll, and before the end', async () => {
  const database = await openDispatcherDatabase();
  // No poll comes while the timers stand still. Not `expect.poll`, which advances them.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const [breakers, backlog, leaseMs] = [new OpenBreakers(), new Backlog(), 60_000];
  const rates = new DestinationRates();
  const queue = new DeliveryQueue({
    ...{ breakers, rates, backlog, leaseMs, maxInFlight: 10, maxInFlightPerDestination: 10 },
    onRefused: () => undefined,
  });
  const deps = {
    pool: database.connect(),
    log: silentLog,
    destinationLog: () => undefined,
    queue,
    breakers,
    rates,
    backlog,
    leaseMs,
  };
  const sharing = startSharingBreakers({ ...deps, deadlineMs: 1_000, onHeldBack: () => {} });
  onTestFinished(async () => {
    vi.useRealTimers();
    await sharing.close();
    await database.drop();
  });
  const listOpen = async () => {
    const { rows } = await database.sql.query('SELECT destination_id AS id FROM open_breakers');
    return rows.map(({ id }) => id);
  };
  const destinationId = randomUUID();
  breakers.open(destinationId, 1);
  while ((await listOpen()).length === 0) await setImmediate();
  expect(await listOpen()).toEqual([destinationId]);

  breakers.close(destinationId, 'delivery');
  await sharing.close();
  expect(await listOpen()).toEqual([]);
});
