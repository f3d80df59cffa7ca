// A partition that cannot be written holds up the events of its own keys only.
import {
  type EventBus,
  PartlyPublishedError,
  type UnwritablePartition,
} from '@creditlane/events/bus';
import type { EventMessage } from '@creditlane/events/message';
import { decodeEvent } from '@creditlane/events/topics';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { appendToOutbox, shardOf } from '../outbox.ts';
import { type Relay, startRelay } from '../relay.ts';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';

const TOPIC = 'creditlane.decisions.v1';
const WITHIN = { timeout: 15_000 };
/** A key of another partition, in the shard of `away 1`: events of both are read together. */
const NEAR = ['near 1', 'near 2', 'near 3', 'near 4', 'near 5', 'near 6', 'near 7', 'near 8'].find(
  (key) => shardOf(key) === shardOf('away 1'),
) as string;

let db: OpenTestDatabase;
let relay: Relay;
let published: EventMessage[];
let isWritable: boolean;
/** Called after the publish of each batch. */
let onPublished: () => Promise<void>;

/** Of two partitions, the one whose keys begin with `away` can be written while `isWritable`. */
const away: UnwritablePartition = {
  topic: TOPIC,
  partition: 7,
  includes: ({ key }) => key.startsWith('away'),
  cause: new Error('creditlane.decisions.v1 7 has no leader'),
};

const bus: EventBus = {
  async publish(batch) {
    const refused = isWritable ? [] : batch.filter(away.includes);
    published.push(...batch.filter((message) => !refused.includes(message)));
    await onPublished();
    if (refused.length > 0) throw new PartlyPublishedError([away]);
  },
  subscribe: () => Promise.reject(new Error('not used in this test')),
  close: () => Promise.resolve(),
};

beforeEach(async () => {
  db = await openMessagingTestDatabase('partitions');
  published = [];
  isWritable = false;
  onPublished = () => Promise.resolve();
  const { pool, reserved, metrics } = db;
  relay = startRelay({ database: { pool, reserved }, bus, source: 's', log: silentLog, metrics });
});
afterEach(async () => {
  await relay.close();
  await db.close();
});

async function append(key: string, sequences: readonly number[]): Promise<void> {
  const events = sequences.map((sequence) => ({
    topic: TOPIC,
    key,
    type: 'creditlane.decisions.v1.DecisionRecorded' as const,
    payload: { applicationId: key, sequence },
  }));
  await appendToOutbox(db.pool, events as Parameters<typeof appendToOutbox>[1]);
  relay.wake();
}

/** The sequences published of a key, in order, without repeated ones, as the inbox drops them. */
function sequencesOf(key: string): number[] {
  const ofKey = published.filter((message) => message.key === key);
  return [
    ...new Set(
      ofKey.map((message) => Number((decodeEvent(message).event as { sequence: bigint }).sequence)),
    ),
  ];
}

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
    /outbox_partition_unwritable_seconds\{source="s",topic="creditlane.decisions.v1",partition="7"\} \d/,
  );
});

test('once a partition can be written, its events are published in the order of their keys', async () => {
  await append('away 1', count(1, 1_200));
  await append(NEAR, [1]);
  await expect.poll(waiting, WITHIN).toEqual(['away 1']);
  let last = 1_200;
  // Events that are written while the earlier ones are published, one after the other as under the lock of their key.
  let writing = Promise.resolve();
  onPublished = () => {
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
  expect(await db.metrics.text()).not.toContain('partition="7"');
});
