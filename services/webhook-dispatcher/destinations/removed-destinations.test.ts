import { NIL_UUID } from '@creditlane/runtime/ids';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestFixture, type TestFixture } from '../test-fixture.ts';
import { answer } from '../test-receiver.ts';
import { endRemovedDestinations } from './removed-destinations.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

/** What no test of this file looks at. */
const REST = { integrationName: '', events: [], readsSin: false, keys: [], usableUntilMs: 0 };

/** One round of what the dispatcher does every minute; resolves to the destinations of which deliveries have ended. */
async function endRemoved(): Promise<readonly string[]> {
  const ended = new Set<string>();
  const { destinations } = fixture.integrations;
  const next = await endRemovedDestinations(
    {
      pool: fixture.sql,
      log: silentLog,
      destinations: {
        getUncached: async (id) => {
          const found = destinations.get(id);
          return found && { ...found, ...REST, integrationId: id };
        },
      },
      queue: {
        dropEnded(destinationId, ids) {
          if (ids.size > 0) ended.add(destinationId);
        },
        add: () => {},
      },
      leaseMs: 1_000,
    },
    NIL_UUID,
    new AbortController().signal,
  );
  expect(next).toBe(NIL_UUID);
  return [...ended];
}

async function statesOfDeliveries(destinationId: string) {
  const { rows } = await fixture.sql.query(
    'SELECT state, reason FROM deliveries WHERE destination_id = $1 ORDER BY position',
    [destinationId],
  );
  return rows.map(({ state, reason }) => (reason === null ? state : `${state}: ${reason}`));
}

test('deliveries to a removed destination that wait for their next attempt or behind another are dead', async () => {
  const removed = await fixture.addReceiver();
  const kept = await fixture.addReceiver();
  removed.respondWith(answer(500));
  kept.respondWith(answer(500));
  const { bus, settled } = await fixture.start({ RETRY_DELAYS: '1h' });
  await bus.publish([1, 2, 3].map((sequence) => fixture.event({ sequence })));
  await settled();
  expect(await endRemoved()).toEqual([]);
  expect(await statesOfDeliveries(removed.destinationId)).toEqual(['due', 'waiting', 'waiting']);

  fixture.integrations.destinations.delete(removed.destinationId);
  expect(await endRemoved()).toEqual([removed.destinationId]);
  const dead = 'dead: destination_removed';
  expect(await statesOfDeliveries(removed.destinationId)).toEqual([dead, dead, dead]);
  expect(await statesOfDeliveries(kept.destinationId)).toEqual(['due', 'waiting', 'waiting']);
  expect(removed.received).toHaveLength(1);
  expect(await endRemoved()).toEqual([]);
});

test('a disabled destination that was removed is no longer counted as disabled', async () => {
  const { respondWith, destinationId } = await fixture.addReceiver();
  respondWith(answer(410));
  const { bus, settled, metrics } = await fixture.start();
  await bus.publish([fixture.event()]);
  await settled();
  expect(await metrics()).toContain('creditlane_webhook_disabled_destinations 1');
  fixture.integrations.destinations.delete(destinationId);
  await endRemoved();
  expect(await metrics()).toContain('creditlane_webhook_disabled_destinations 0');
});

test('a request that is under way while its destination is removed is delivered when it succeeds', async () => {
  const { respondWith, destinationId } = await fixture.addReceiver();
  respondWith(async (_, response) => {
    fixture.integrations.destinations.delete(destinationId);
    await endRemoved();
    response.writeHead(204).end();
  });
  const { bus, settled } = await fixture.start();
  await bus.publish([fixture.event(), fixture.event({ sequence: 2 })]);
  await settled();
  await expect
    .poll(() => statesOfDeliveries(destinationId))
    .toEqual(['delivered', 'dead: destination_removed']);
});

test('a round continues after the destinations of the round before', async () => {
  const { pool, asked } = { pool: fixture.sql, asked: [] as string[] };
  await pool.query(
    `INSERT INTO destination_states (destination_id, disabled_at)
     SELECT gen_random_uuid(), now() FROM generate_series(1, 1500)`,
  );
  const deps = {
    pool,
    log: silentLog,
    destinations: {
      getUncached: async (id: string) => {
        asked.push(id);
        return { integrationId: id, revision: 1, url: 'https://a.example/', ...REST };
      },
    },
    queue: { dropEnded: () => {}, add: () => {} },
    leaseMs: 1_000,
  };
  const { signal } = new AbortController();
  const next = await endRemovedDestinations(deps, NIL_UUID, signal);
  expect(next).toBe(asked.at(-1));
  expect(await endRemovedDestinations(deps, next, signal)).toBe(NIL_UUID);
  expect(new Set(asked).size).toBe(1500);
  expect(asked).toHaveLength(1500);
});
