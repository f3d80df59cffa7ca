import type { EventMessage } from '@creditlane/events/message';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { silentLog } from '@creditlane/runtime/test-log';
import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { appendToOutbox } from './outbox.ts';
import { type Relay, startRelay } from './relay.ts';
import { openMessagingTestDatabase } from './test-messaging-database.ts';

let db: OpenTestDatabase;
/** Hears what the relays call to each other. */
let ear: pg.Client;
let heard: number;
let published: EventMessage[];
let closing: (() => Promise<void>)[];

beforeEach(async () => {
  db = await openMessagingTestDatabase('outbox_call');
  ear = new pg.Client({ connectionString: db.url });
  heard = 0;
  published = [];
  closing = [() => db.close(), () => ear.end()];
  ear.on('notification', () => {
    heard += 1;
  });
  await ear.connect();
  await ear.query('LISTEN outbox');
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
});

/** A relay of a replica, which publishes by putting the messages on the list. */
function relay(): Relay {
  const bus = {
    publish: async (batch: EventMessage[]) => void published.push(...batch),
    subscribe: () => Promise.reject(new Error('nobody subscribes here')),
    close: () => Promise.resolve(),
  };
  const options = { bus, source: 'decisions', log: silentLog, metrics: db.metrics };
  const started = startRelay({ ...options, pool: db.pool });
  closing.push(() => started.close());
  return started;
}

const append = (key: string) =>
  appendToOutbox(db.pool, [
    {
      topic: 'creditlane.decisions.v1',
      key,
      type: 'creditlane.decisions.v1.DecisionRecorded',
      payload: { applicationId: key },
    },
  ]);

/** Resolves once somebody has all the shards. */
const led = () =>
  vi.waitFor(async () => {
    const { rows } = await db.pool.query(
      "SELECT FROM outbox_lease WHERE expires_at > now() + interval '1 second'",
    );
    expect(rows).toHaveLength(4);
  });

/** Resolves once every relay listens, besides the test itself. */
const listening = (relays: number) =>
  vi.waitFor(async () => {
    const { rows } = await db.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN outbox'`,
    );
    expect(rows).toHaveLength(relays + 1);
  });

/** Resolves once the leader has marked all, looked again, found nothing, and so waits. */
const asleep = () =>
  vi.waitFor(async () => {
    const { rows } = await ear.query(
      `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'idle' AND query LIKE '%AS held (shard)%'
         AND query_start > coalesce((SELECT max(published_at) FROM outbox), '-infinity')
         AND NOT EXISTS (SELECT FROM outbox WHERE published_at IS NULL)`,
    );
    expect(rows.length).toBeGreaterThan(0);
  }, 5_000);

/** A round trip to the ear: whatever was called before it has been heard after it. */
const hearAll = () => ear.query('SELECT');

test('a write on a replica without the lease is published without waiting for a poll', async () => {
  const leader = relay();
  await led();
  const follower = relay();
  await listening(2);
  await leader.settled();
  const delaysMs: number[] = [];
  for (let n = 1; n <= 15; n += 1) {
    await asleep();
    await append(`key-${n}`);
    const writtenMs = performance.now();
    follower.wake();
    await vi.waitUntil(() => published.length === n, { interval: 1 });
    delaysMs.push(performance.now() - writtenMs);
  }
  // Of fifteen waits for a poll most would take longer.
  const median = delaysMs.toSorted((a, b) => a - b)[7] ?? Infinity;
  expect(median).toBeLessThan(100);
});

test('the relay that has all the shards calls nobody', async () => {
  const alone = relay();
  await led();
  // What it could not know when it began is behind it.
  await vi.waitFor(async () => {
    expect(await db.metrics.text()).toContain('outbox_shards_held{source="decisions"} 4');
  });
  for (let n = 1; n <= 50; n += 1) {
    await append(`key-${n}`);
    alone.wake();
  }
  await alone.settled();
  await hearAll();
  expect(published).toHaveLength(50);
  expect(heard).toBe(0);
});

test('many writes at once become few calls', async () => {
  relay();
  await led();
  const follower = relay();
  await listening(2);
  for (let n = 1; n <= 1_000; n += 1) follower.wake();
  await vi.waitUntil(() => heard > 0);
  await hearAll();
  expect(heard).toBeLessThanOrEqual(2);
});

test('a replica that lost its connection is heard again', async () => {
  relay();
  await led();
  const follower = relay();
  await listening(2);
  await ear.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND query = 'LISTEN outbox' AND pid <> pg_backend_pid()`,
  );
  await vi.waitFor(async () => {
    follower.wake();
    await hearAll();
    expect(heard).toBeGreaterThan(0);
  }, 10_000);
});
