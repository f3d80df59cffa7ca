import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { watchSentQueries } from '@creditlane/postgres/test-sent-queries';
import { inTransaction } from '@creditlane/postgres/transaction';
import pg from 'pg';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { appendToOutbox, type OutboxEvent } from '../outbox.ts';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';
import {
  decisionEvent as event,
  keysOf,
  type RecordingBus,
  recordingBus,
  sequencesOf as sequencesIn,
  shardsByHolder,
  startTestRelay,
  type TestRelayOptions,
  unpublishedKeys,
} from '../test-relay.ts';

let db: OpenTestDatabase;
let bus: RecordingBus;
beforeEach(async () => {
  db = await openMessagingTestDatabase('relay');
  onTestFinished(() => db.close());
  bus = recordingBus();
});

const relay = (options: TestRelayOptions = {}) =>
  startTestRelay(db, bus, { pollMs: 250, ...options });
const append = (...events: OutboxEvent[]) => appendToOutbox(db.pool, events);
const sequencesOf = (key: string) => sequencesIn(bus.published, key);

const unpublished = () => unpublishedKeys(db.pool);

test('an event is published with its CloudEvents headers and the traceparent of its cause', async () => {
  const id = randomUUID();
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await append({ ...event('a', 7), id, traceparent });
  await relay().settled();
  expect(bus.published).toHaveLength(1);
  expect(bus.published[0]).toMatchObject({
    topic: 'creditlane.decisions.v1',
    key: 'a',
    headers: {
      ce_specversion: '1.0',
      ce_id: id,
      ce_type: 'creditlane.decisions.v1.DecisionRecorded',
      ce_source: 'decisions',
      'content-type': 'application/protobuf',
      traceparent,
    },
  });
  expect(sequencesOf('a')).toEqual([7]);
});

test('events of a key that take many batches are published in the order of their writing', async () => {
  const keys = Array.from({ length: 12 }, (_, index) => `key-${index}`);
  const sequences = Array.from({ length: 300 }, (_, index) => index + 1);
  for (const sequence of sequences) await append(...keys.map((key) => event(key, sequence)));
  const batches: number[] = [];
  bus.accept = async (batch) => {
    batches.push(batch.length);
  };
  await relay().settled();
  for (const key of keys) expect(sequencesOf(key)).toEqual(sequences);
  expect(Math.max(...batches)).toBeLessThanOrEqual(2_000);
  expect(batches.length).toBeGreaterThan(1);
});

test('large events are published in batches of about 512 KiB, in the order of their writing', async () => {
  const sizes: number[] = [];
  bus.accept = async (batch) => {
    sizes.push(batch.reduce((sum, { value }) => sum + value.byteLength, 0));
  };
  const conditions = '\u{1f697}'.repeat(10_000);
  const large = Array.from({ length: 60 }, (_, n) => {
    const { payload, ...rest } = event(`key ${n % 3}`, n + 1);
    return { ...rest, payload: { ...(payload as object), decision: { conditions } } };
  });
  await append(...large);
  relay();
  await vi.waitUntil(async () => (await unpublished()).length === 0, { timeout: 15_000 });
  expect(bus.published).toHaveLength(60);
  expect(sequencesOf('key 1')).toEqual(Array.from({ length: 20 }, (_, n) => 3 * n + 2));
  expect(Math.max(...sizes)).toBeLessThan(600_000);
  expect(sizes.length).toBe(5);
});

test('events of a transaction that commits after one with higher ids are published', async () => {
  const running = relay();
  await inTransaction(db.pool, async (tx) => {
    await appendToOutbox(tx, [event('late')]);
    await append(event('early'));
    running.wake();
    await expect.poll(() => sequencesOf('early')).toEqual([1]);
    await expect.poll(() => unpublished()).toEqual([]);
    expect(sequencesOf('late')).toEqual([]);
  });
  await running.settled();
  expect(sequencesOf('late')).toEqual([1]);
});

test('an event of a transaction that is rolled back is never published', async () => {
  const running = relay();
  const refused = inTransaction(db.pool, async (tx) => {
    await appendToOutbox(tx, [event('phantom')]);
    throw new Error('refused');
  });
  await expect(refused).rejects.toThrow('refused');
  await append(event('real'));
  await running.settled();
  expect(keysOf(bus.published)).toEqual(['real']);
});

test('an event written during a publish is not marked with the published events', async () => {
  const hold = Promise.withResolvers<void>();
  bus.accept = (batch) =>
    batch.some(({ key }) => key === 'second') ? hold.promise : Promise.resolve();
  const running = relay();
  bus.accept = async () => {
    bus.accept = () => hold.promise;
    // Written during the publish of the first event, in the same shard.
    await append(event('first', 2));
  };
  await append(event('first', 1));
  await expect.poll(() => sequencesOf('first')).toEqual([1]);
  await expect.poll(() => unpublished()).toEqual(['first']);
  hold.resolve();
  await running.settled();
  expect(sequencesOf('first')).toEqual([1, 2]);
});

test('a publish that fails is repeated until it succeeds, in order', async () => {
  let failures = 0;
  bus.accept = async () => {
    failures += 1;
    if (failures <= 3) throw new Error('the broker is away');
  };
  await append(event('a', 1), event('a', 2));
  await relay().settled();
  expect(failures).toBe(4);
  expect(sequencesOf('a')).toEqual([1, 2]);
});

test('a batch that was published but not marked is published again with the same ids', async () => {
  bus.accept = async () => {
    bus.accept = () => marksFail(false);
    await marksFail(true);
  };
  await append(event('a', 1), event('a', 2));
  await relay().settled();
  expect(sequencesOf('a')).toEqual([1, 2, 1, 2]);
  const ids = bus.published.map(({ headers }) => headers.ce_id);
  expect(ids.slice(0, 2)).toEqual(ids.slice(2));
});

test('an event that is published and not marked yet is not published again by the next rounds', async () => {
  const running = relay();
  for (let sequence = 1; sequence <= 5; sequence += 1) {
    await append(event('a', sequence));
    running.wake();
    await expect.poll(() => sequencesOf('a')).toContain(sequence);
  }
  await running.settled();
  expect(sequencesOf('a')).toEqual([1, 2, 3, 4, 5]);
});

test('a relay that closes marks what it has published', async () => {
  const running = relay();
  await append(event('a'));
  await expect.poll(() => sequencesOf('a')).toEqual([1]);
  await running.close();
  expect(await unpublished()).toEqual([]);
});

/** Makes the mark fail, as a crash of the relay or of PostgreSQL after the publish would. */
async function marksFail(fail: boolean): Promise<void> {
  const check = 'ALTER TABLE outbox ADD CONSTRAINT crash CHECK (published_at IS NULL)';
  await db.pool.query(fail ? check : 'ALTER TABLE outbox DROP CONSTRAINT crash');
}

test('a relay whose connections PostgreSQL has closed publishes further events', async () => {
  const running = relay();
  for (const sequence of [1, 2, 3]) {
    // The pool may lend a connection whose end it has not seen yet.
    await vi.waitFor(() => append(event('a', sequence)), 15_000);
    await disconnectAll();
    await expect.poll(() => new Set(sequencesOf('a')).size).toBe(sequence);
  }
  await running.settled();
});

async function disconnectAll(): Promise<void> {
  const client = new pg.Client({ connectionString: db.url });
  await client.connect();
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()`,
  );
  await client.end();
}

test('an event is published after a wake-up, without a poll or a full batch', async () => {
  const running = relay({ pollMs: 3_600_000 });
  await append(event('warm up'));
  await running.settled();
  await append(event('a'));
  running.wake();
  await expect.poll(() => sequencesOf('a')).toEqual([1]);
});

test('an event is published while requests use every connection of the pool', async () => {
  await append(event('a'));
  const { max } = db.pool.options;
  const held = await Promise.all(Array.from({ length: max }, () => db.pool.connect()));
  await relay().settled();
  expect(sequencesOf('a')).toEqual([1]);
  for (const client of held) client.release();
});

test('an event without a wake-up is published by the poll', async () => {
  relay();
  await append(event('a'));
  await expect.poll(() => sequencesOf('a')).toEqual([1]);
});

test('a relay without events reads the outbox once at most in a second, after its first reads', async () => {
  const sent = watchSentQueries();
  const startedMs = performance.now();
  startTestRelay(db, bus);
  await expect.poll(() => shardsByHolder(db.pool)).toEqual([4]);
  await delay(1_500);
  const seconds = (performance.now() - startedMs) / 1_000;
  const reads = sent().filter(({ name }) => name === 'outbox_read').length;
  // It reads when it starts to publish, has taken its leases, and has begun to listen.
  expect(reads).toBeGreaterThanOrEqual(1);
  expect(reads).toBeLessThanOrEqual(3 + seconds);
});

test('an event that cannot be encoded blocks its own key and no other', async () => {
  await db.pool.query(
    `INSERT INTO outbox (shard, topic, key, type, payload)
     VALUES (0, 'creditlane.decisions.v1', 'bad', 'creditlane.decisions.v1.DecisionRecorded', '{"no": 1}')`,
  );
  for (const shard of [0, 0, 1]) {
    await db.pool.query(
      `INSERT INTO outbox (shard, topic, key, type, payload)
       SELECT $1, 'creditlane.decisions.v1', k, 'creditlane.decisions.v1.DecisionRecorded', '{}'
       FROM unnest(ARRAY['bad', 'good']) k`,
      [shard],
    );
  }
  relay();
  await expect.poll(() => keysOf(bus.published)).toEqual(['good', 'good', 'good']);
  await expect.poll(() => unpublished()).toEqual(['bad', 'bad', 'bad', 'bad']);
});

test('more blocked events than a batch holds do not stop the events of other keys', async () => {
  await db.pool.query(
    `INSERT INTO outbox (shard, topic, key, type, payload)
     SELECT 0, 'creditlane.decisions.v1', 'bad', 'creditlane.decisions.v1.DecisionRecorded', '{"no": 1}'
     FROM generate_series(1, 600)`,
  );
  await db.pool.query(
    `INSERT INTO outbox (shard, topic, key, type, payload)
     VALUES (0, 'creditlane.decisions.v1', 'good', 'creditlane.decisions.v1.DecisionRecorded', '{}')`,
  );
  relay();
  await expect.poll(() => keysOf(bus.published)).toEqual(['good']);
});

test('an event that cannot be encoded is refused when it is written', async () => {
  const wrong = { ...event('a'), payload: { applicationId: 1 } };
  await expect(append(wrong)).rejects.toThrow('the payload is not a');
  expect(await unpublished()).toEqual([]);
});

test('the metrics show the backlog and the age of its oldest event', async () => {
  bus.accept = () => Promise.reject(new Error('away'));
  relay();
  await append(event('a'), event('b'));
  const text = await db.metrics.text();
  expect(text).toContain('creditlane_outbox_depth{source="decisions"} 2');
  expect(text).toMatch(/creditlane_outbox_oldest_seconds\{source="decisions"\} \d/);
});

test.each(['outbox_depth', 'outbox_oldest_seconds'])(
  'a failure to read %s is counted',
  async (name) => {
    relay();
    const series = `creditlane_metric_collect_failures_total{metric="creditlane_${name}"}`;
    expect(await db.metrics.text()).toContain(`${series} 0`);
    await db.pool.query('ALTER TABLE outbox_lease RENAME TO renamed');
    expect(await db.metrics.text()).toContain(`${series} 1`);
  },
);

test('closing ends although the bus never answers', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  const asked = Promise.withResolvers<void>();
  bus.accept = () => {
    asked.resolve();
    return new Promise(() => undefined);
  };
  const running = relay();
  await append(event('a'));
  await asked.promise;
  const closed = running.close();
  await vi.advanceTimersByTimeAsync(6_000);
  await closed;
  vi.useRealTimers();
  expect(await unpublished()).toEqual(['a']);
});
