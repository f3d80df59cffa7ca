// How the relays of one outbox share its shards and take them over.
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import pg from 'pg';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { appendToOutbox, type OutboxEvent, shardOf } from '../outbox.ts';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';
import {
  decisionEvent as event,
  type RecordingBus,
  recordingBus,
  sequencesOf as sequencesIn,
  shardsByHolder,
  startTestRelay,
  unpublishedKeys,
} from '../test-relay.ts';

let db: OpenTestDatabase;
let bus: RecordingBus;
beforeEach(async () => {
  db = await openMessagingTestDatabase('relay_shards');
  onTestFinished(() => db.close());
  bus = recordingBus();
});

/** All relays of a test that are to take over shards need the same leases. */
const LEASE = { leaseMs: 1_000 };
const relay = () => startTestRelay(db, bus, { pollMs: 250, ...LEASE });
const append = (...events: OutboxEvent[]) => appendToOutbox(db.pool, events);
const sequencesOf = (key: string) => sequencesIn(bus.published, key);

test('a relay whose shards are taken over during a publish marks no event', async () => {
  const running = relay();
  bus.accept = async () => {
    bus.accept = () => Promise.resolve();
    await takeOver();
  };
  await append(event('a'));
  await expect.poll(() => bus.published.length).toBe(1);
  await expect.poll(() => unpublishedKeys(db.pool)).toEqual(['a']);
  // The other relay marks nothing; when it releases the shards, the first relay takes them again.
  await release();
  await running.settled();
  expect(sequencesOf('a')).toEqual([1, 1]);
});

/** Does what another relay does when it finds the leases expired. */
async function takeOver(shard: number | null = null): Promise<void> {
  await db.pool.query(
    `UPDATE outbox_lease SET holder = gen_random_uuid(), fence = fence + 1
     WHERE shard = coalesce($1, shard)`,
    [shard],
  );
}

/** Does what another relay does when it closes. */
async function release(): Promise<void> {
  await db.pool.query('UPDATE outbox_lease SET holder = NULL');
}

test('a shard taken over is published although the other shards always have more events', async () => {
  const [busy, quiet] = ['a', 'b'];
  expect(shardOf(busy)).not.toBe(shardOf(quiet));
  const running = relay();
  await running.settled();
  await takeOver(shardOf(quiet));
  // Until its next renewal the relay publishes the shard, and marks nothing.
  await expect
    .poll(() => db.metrics.text())
    .toContain('creditlane_outbox_shards_held{source="decisions"} 3');
  let sequence = 1;
  bus.accept = async (batch) => {
    if (batch.some(({ key }) => key === quiet)) bus.accept = () => Promise.resolve();
    sequence += 1;
    await append(event(busy, sequence));
  };
  await append(event(busy), event(quiet));
  await expect.poll(() => sequencesOf(busy).length).toBeGreaterThan(1);
  await db.pool.query('UPDATE outbox_lease SET holder = NULL WHERE shard = $1', [shardOf(quiet)]);
  // What a relay has published, and not marked, when its lease ends is published again.
  await expect.poll(() => new Set(sequencesOf(quiet))).toEqual(new Set([1]));
  await running.settled();
});

test('the shards of a relay that died are taken over when its leases end, although the clock was set back an hour', async () => {
  const failingPool = new pg.Pool({ connectionString: db.url });
  startTestRelay(db, bus, { reserved: failingPool });
  await expect.poll(() => shardsByHolder(db.pool)).toEqual([4]);
  // The relay cannot reach the database any more, so it cannot release its shards either.
  await failingPool.end();
  const { rows } = await db.pool.query(
    `SELECT bool_and(expires_at < now() + interval '5 seconds') AS ends FROM outbox_lease`,
  );
  expect(rows).toEqual([{ ends: true }]);
  // As if PostgreSQL's clock had been set back after the last renewal.
  await db.pool.query(`UPDATE outbox_lease SET expires_at = expires_at + interval '1 hour'`);
  await append(event('a'));
  // Until a test ends by its time limit, no lease of an hour does.
  await startTestRelay(db, bus).settled();
  expect(sequencesOf('a')).toEqual([1]);
});

test('of three relays none holds more than two of four shards, and the others take over those of one that closes', async () => {
  const first = relay();
  await first.settled();
  await expect.poll(() => shardsByHolder(db.pool)).toEqual([4]);
  const second = relay();
  const third = relay();
  // The other two take one each of the two shards that the first gives up, or one of them takes both.
  await expect
    .poll(() => shardsByHolder(db.pool))
    .toBeOneOf([
      [2, 2],
      [2, 1, 1],
    ]);
  await first.close();
  await expect.poll(() => shardsByHolder(db.pool)).toEqual([2, 2]);
  await second.close();
  await expect.poll(() => shardsByHolder(db.pool)).toEqual([4]);
  await third.settled();
});

test('the shards of a relay that cannot reach the bus go to a relay that can', async () => {
  // The delays after failed rounds are a tenth of the longest ones.
  vi.spyOn(Math, 'random').mockReturnValue(0.1);
  const cutOff = recordingBus();
  cutOff.accept = () => Promise.reject(new Error('no broker answers'));
  startTestRelay(db, cutOff, { pollMs: 250, ...LEASE, stepBackAfterMs: 1_000 });
  const other = relay();
  await expect.poll(() => shardsByHolder(db.pool), { timeout: 15_000 }).toEqual([2, 2]);
  await append(...Array.from({ length: 8 }, (_, n) => event(`key ${n}`)));
  await other.settled();
  expect(new Set(bus.published.map(({ key }) => key)).size).toBe(8);
  // When the machine pauses, the relay without a bus may take shards whose lease has ended; it gives them up after a second.
  await expect.poll(() => shardsByHolder(db.pool), { timeout: 30_000 }).toEqual([4]);
}, 90_000);

test('events stay in order while relays come and go', async () => {
  const keys = Array.from({ length: 8 }, (_, n) => `key ${n}`);
  const first = relay();
  let isOver = false;
  let sequence = 0;
  const writing = (async () => {
    while (!isOver) {
      sequence += 1;
      await append(...keys.map((key) => event(key, sequence)));
      first.wake();
    }
  })();
  const second = relay();
  await expect.poll(() => shardsByHolder(db.pool)).toEqual([2, 2]);
  await first.close();
  await expect.poll(() => shardsByHolder(db.pool)).toEqual([4]);
  isOver = true;
  await writing;
  await second.settled();
  const expected = Array.from({ length: sequence }, (_, n) => n + 1);
  for (const key of keys) expect([...new Set(sequencesOf(key))]).toEqual(expected);
});

test('when the relay that publishes is closed, another relay publishes', async () => {
  const first = relay();
  await append(event('a', 1));
  await first.settled();
  const second = relay();
  await append(event('a', 2));
  await second.settled();
  await first.close();
  await append(event('a', 3));
  await second.settled();
  // The relay that takes a shard from one that was paused publishes again what that one had not marked.
  expect([...new Set(sequencesOf('a'))]).toEqual([1, 2, 3]);
});
