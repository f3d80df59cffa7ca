// A partition that cannot be written holds up the events of its own keys only.
import { once } from 'node:events';
import { PartlyPublishedError, type UnwritablePartition } from '@creditlane/events/bus';
import { type EventMessage, MAX_BATCH_BYTES } from '@creditlane/events/message';
import { runQuery } from '@creditlane/postgres/statement';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { inTransaction } from '@creditlane/postgres/transaction';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { appendToOutbox, shardOf } from '../outbox.ts';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';
import {
  decisionEvent,
  keysOf,
  type RecordingBus,
  recordingBus,
  sequencesOf as sequencesIn,
  startTestRelay,
} from '../test-relay.ts';
import type { Relay } from './relay.ts';
import {
  oldestUnpublishedQuery,
  unpublishedOfKeysQuery,
  unpublishedQuery,
} from './unpublished-rows.ts';

const TOPIC = 'creditlane.decisions.v1';
const WITHIN = { timeout: 30_000 };
/** A key of another partition, in the shard of `away 1`: events of both are read together. */
const NEAR = ['near 1', 'near 2', 'near 3', 'near 4', 'near 5', 'near 6', 'near 7', 'near 8'].find(
  (key) => shardOf(key) === shardOf('away 1'),
) as string;

let db: OpenTestDatabase;
let relay: Relay;
let bus: RecordingBus;
let isWritable: boolean;
/** The first messages of this key are refused with those of the other partition, to which they belonged before. */
let movedKey: string | undefined;
let log: ReturnType<typeof createLog>;
/** Called during the publish of each batch. */
let onPublish: (batch: readonly EventMessage[]) => Promise<void>;

/** Of two partitions, the one whose keys begin with `away` can be written while `isWritable`. */
const away: UnwritablePartition = {
  topic: TOPIC,
  partition: 7,
  includes: ({ key }) => key.startsWith('away'),
  failed: [],
  cause: new Error('creditlane.decisions.v1 7 has no leader'),
};

beforeEach(async () => {
  db = await openMessagingTestDatabase('partitions');
  onTestFinished(() => db.close());
  isWritable = false;
  movedKey = undefined;
  onPublish = () => Promise.resolve();
  bus = recordingBus();
  bus.accept = async (batch) => {
    const moved = batch.filter(({ key }) => key === movedKey);
    if (moved.length > 0) movedKey = undefined;
    const refused = [...moved, ...(isWritable ? [] : batch.filter(away.includes))];
    await onPublish(batch);
    if (refused.length > 0) throw new PartlyPublishedError([{ ...away, failed: refused }]);
  };
  log = createLog('test', { level: 'silent' });
  // Several tests wait for a renewal or the end of a lease. No other relay takes one that is late.
  relay = startTestRelay(db, bus, { log, leaseMs: 1_000 });
});

async function append(key: string, sequences: readonly number[]): Promise<void> {
  await appendToOutbox(
    db.pool,
    sequences.map((sequence) => decisionEvent(key, sequence)),
  );
  relay.wake();
}

/** The sequences published of a key, in order, without repeated ones, as the inbox drops them. */
const sequencesOf = (key: string) => [...new Set(sequencesIn(bus.published, key))];

async function waiting(): Promise<string[]> {
  const { rows } = await db.pool.query<{ key: string }>(
    'SELECT DISTINCT key FROM outbox WHERE published_at IS NULL ORDER BY key',
  );
  return rows.map(({ key }) => key);
}

const count = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

test('while a partition cannot be written, events of other partitions are published and marked', async () => {
  // More events than a round reads.
  await append('away 1', count(1, 600));
  await append(NEAR, count(1, 3));
  await expect.poll(() => sequencesOf(NEAR), WITHIN).toEqual([1, 2, 3]);
  await expect.poll(waiting, WITHIN).toEqual(['away 1']);
  await append('away 2', [1]);
  for (const sequence of count(4, 8)) await append(NEAR, [sequence]);
  await expect.poll(waiting, WITHIN).toEqual(['away 1', 'away 2']);
  expect(sequencesOf(NEAR)).toEqual(count(1, 8));
  expect(await db.metrics.text()).toMatch(
    /outbox_partition_unwritable_seconds\{source="decisions",topic="creditlane.decisions.v1",partition="7"\} \d/,
  );
}, 60_000);

test('while 40,000 keys wait for their partition, the oldest event of any other key is read in time', async () => {
  await db.pool.query(
    `INSERT INTO outbox (shard, topic, key, type, payload)
     SELECT 0, $1, 'away ' || n, 'creditlane.decisions.v1.DecisionRecorded', '{}' FROM generate_series(1, 40000) AS n`,
    [TOPIC],
  );
  const keys = count(1, 40_000).map((n) => `away ${n}`);
  const leases = [{ shard: 0, fence: 0 }];
  const others = unpublishedQuery(leases, { keys: keys.slice(0, -1), ids: [] }, 0);
  expect(await runQuery(db.reserved, others)).toMatchObject([{ key: 'away 40000' }]);
  const oldest = oldestUnpublishedQuery(leases, { keys, ids: [] });
  expect(await runQuery(db.reserved, oldest)).toBeUndefined();
  const ofKeys = unpublishedOfKeysQuery(leases, keys.slice(-1), []);
  expect(await runQuery(db.reserved, ofKeys)).toMatchObject([{ key: 'away 40000' }]);
}, 60_000);

test('an event that failed with a partition, to which its key belongs no more, is published later', async () => {
  movedKey = NEAR;
  await append(NEAR, [1, 2]);
  await expect.poll(waiting, WITHIN).toEqual([]);
  expect(sequencesOf(NEAR)).toEqual([1, 2]);
});

test('once a partition can be written, its events are published in the order of their keys', async () => {
  await append('away 1', count(1, 1_200));
  await append(NEAR, [1]);
  await expect.poll(waiting, WITHIN).toEqual(['away 1']);
  let last = 1_200;
  // Events that are written while the earlier ones are published, one after the other as under the lock of their key.
  let writing = Promise.resolve();
  onPublish = () => {
    writing = writing.then(async () => {
      if (!isWritable || last >= 1_230) return;
      last += 1;
      await append('away 1', [last]);
      await append(NEAR, [last]);
    });
    return writing;
  };
  isWritable = true;
  await expect.poll(() => sequencesOf('away 1').length, WITHIN).toBeGreaterThanOrEqual(1_230);
  await relay.settled();
  expect(sequencesOf('away 1')).toEqual(count(1, 1_230));
  expect(sequencesOf(NEAR)).toEqual([1, ...count(1_201, 1_230)]);
  // The relay sees that none is left with its next read of the keys.
  await expect.poll(() => db.metrics.text(), WITHIN).not.toContain('partition="7"');
});

/** Resolves once a statement with this text waits for a lock. */
const lockAwaitedBy = (statement: string) =>
  expect
    .poll(async () => {
      const { rows } = await db.pool.query<{ query: string }>(
        `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.some(({ query }) => query.includes(statement));
    }, WITHIN)
    .toBe(true);

const metricsHave = (text: string) =>
  expect.poll(async () => (await db.metrics.text()).includes(text), WITHIN).toBe(true);

test('a key whose partition can be written again in the middle of its events keeps its order', async () => {
  await append('away 1', [1]);
  await metricsHave('partition="7"');
  const isAwayTaken = Promise.withResolvers<void>();
  const isRoundTaken = Promise.withResolvers<void>();
  onPublish = async (batch) => {
    if (keysOf(batch).includes('away 1')) {
      // The end of the time in which the events of the partition are published apart falls into a publish of a round.
      isAwayTaken.resolve();
      return isRoundTaken.promise;
    }
    onPublish = () => Promise.resolve();
    isRoundTaken.resolve();
    await expect.poll(() => db.metrics.text(), WITHIN).not.toContain('partition="7"');
  };
  isWritable = true;
  await isAwayTaken.promise;
  // The round reads all, sets the first event aside, and has published too much before it comes to the last one.
  const large = { applicationId: 'x'.repeat(MAX_BATCH_BYTES), sequence: 1 };
  await appendToOutbox(db.pool, [
    decisionEvent('away 2', 1),
    { ...decisionEvent(NEAR), payload: large },
    decisionEvent('away 2', 2),
  ]);
  relay.wake();
  await relay.settled();
  expect(sequencesOf('away 2')).toEqual([1, 2]);
});

test('while events of a partition are being marked, they are not published again', async () => {
  const warn = vi.spyOn(log, 'warn');
  const lock = await db.pool.connect();
  isWritable = true;
  onPublish = async () => {
    onPublish = () => Promise.resolve();
    await lock.query('BEGIN');
    await lock.query('SELECT FROM outbox FOR UPDATE');
    isWritable = false;
    await append('away 1', [2]);
  };
  await append('away 1', [1]);
  await lockAwaitedBy('SET published_at = now()');
  isWritable = true;
  let statements = 0;
  db.reserved.on('acquire', () => {
    statements += 1;
  });
  // A read meanwhile would be one of these; renewals are the others.
  await expect.poll(() => statements, WITHIN).toBeGreaterThanOrEqual(2);
  await lock.query('COMMIT');
  lock.release();
  await relay.settled();
  expect(bus.published.filter(({ key }) => key === 'away 1')).toHaveLength(2);
  expect(warn.mock.calls.filter(([text]) => String(text).includes('took over'))).toEqual([]);
}, 60_000);

test('events that were read before their shard was lost are not published', async () => {
  await append('away 1', [1]);
  await metricsHave('partition="7"');
  const listener = await db.pool.connect();
  await listener.query('LISTEN outbox_relays');
  await inTransaction(db.pool, async (tx) => {
    await tx.query('LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE');
    await lockAwaitedBy('(key IN (');
    isWritable = true;
    // A relay that does not hold all shards announces itself at each renewal.
    const announced = once(listener, 'notification');
    await db.pool.query('UPDATE outbox_lease SET holder = gen_random_uuid(), fence = fence + 1');
    await announced;
  });
  await listener.query('UNLISTEN *');
  listener.release();
  await relay.settled();
  expect(keysOf(bus.published)).toEqual(['away 1']);
}, 60_000);

test('a partition is not forgotten while the leases are not renewed', async () => {
  // The delays after failed publishes are a tenth of the longest ones.
  vi.spyOn(Math, 'random').mockReturnValue(0.1);
  const [debug, info] = [vi.spyOn(log, 'debug'), vi.spyOn(log, 'info')];
  await append('away 1', [1]);
  await metricsHave('partition="7"');
  await inTransaction(db.pool, async (tx) => {
    await tx.query('LOCK TABLE outbox_lease IN ACCESS EXCLUSIVE MODE');
    const err = expect.objectContaining({ message: 'the leases of the outbox are not renewed' });
    const entry = expect.objectContaining({ err });
    await vi.waitFor(() => expect(debug).toHaveBeenCalledWith(entry, expect.anything()), WITHIN);
  });
  expect(info).not.toHaveBeenCalled();
  isWritable = true;
  await relay.settled();
  expect(sequencesOf('away 1')).toEqual([1]);
}, 60_000);
