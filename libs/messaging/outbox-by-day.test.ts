// The outbox by day: unpublished events are in a queue, published ones go with their day, and no event of an earlier
// version is lost or passed.
import { maintainDays } from '@creditlane/postgres/partitions/day-partitions';
import { dropEarlierTable } from '@creditlane/postgres/partitions/earlier-tables';
import { runPurge } from '@creditlane/postgres/retention';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { inTransaction } from '@creditlane/postgres/transaction';
import { expect, onTestFinished, test } from 'vitest';
import { appendToOutbox } from './outbox.ts';
import { earlierOutbox, OUTBOX_PARTITIONS, purgeOutbox } from './outbox-by-day.ts';
import { raiseShards } from './outbox-commands/raise-shards.ts';
import { republishOutbox } from './outbox-commands/republish-outbox.ts';
import {
  migrateMessaging,
  openEarlierMessagingDatabase,
  openMessagingTestDatabase,
} from './test-messaging-database.ts';
import { decisionEvent, keysOf, recordingBus, startTestRelay } from './test-relay.ts';

let db: OpenTestDatabase;
/** The test's database, which is closed and dropped at its end. */
async function open(opening: Promise<OpenTestDatabase>): Promise<void> {
  db = await opening;
  onTestFinished(() => db.close());
}

const append = (...keys: string[]) =>
  appendToOutbox(
    db.pool,
    keys.map((key) => decisionEvent(key)),
  );

const markAll = (daysAgo: number) =>
  db.pool.query(
    `UPDATE outbox SET published_at = now() - $1 * interval '1 day' WHERE published_at IS NULL`,
    [daysAgo],
  );

async function placesOf(...keys: string[]): Promise<Record<string, string>> {
  const { rows } = await db.pool.query<{ key: string; place: string }>(
    `SELECT key, regexp_replace(tableoid::regclass::text, '[0-9]{8}', 'DAY') AS place FROM outbox
     WHERE key = ANY ($1) ORDER BY id`,
    [keys],
  );
  return Object.fromEntries(rows.map(({ key, place }) => [key, place]));
}

const exists = async (table: string) => {
  const { rows } = await db.pool.query('SELECT to_regclass($1) IS NOT NULL AS exists', [table]);
  return rows[0].exists as boolean;
};

test('an event is in the queue until it is published, and then in its day; republishing brings it back', async () => {
  await open(openMessagingTestDatabase('outbox_by_day'));
  await append('one');
  expect(await placesOf('one')).toEqual({ one: 'outbox_waiting' });
  const bus = recordingBus();
  const relay = startTestRelay(db, bus);
  await relay.settled();
  expect(await placesOf('one')).toEqual({ one: 'outbox_published_DAY' });
  await relay.close();
  expect(await republishOutbox(db.pool, new Date(0))).toBe(1);
  expect(await placesOf('one')).toEqual({ one: 'outbox_waiting' });
  expect(keysOf(bus.published)).toEqual(['one']);
});

test('published events go with their day after a week, unpublished ones never', async () => {
  await open(openMessagingTestDatabase('outbox_retention'));
  await db.pool.query(
    `CREATE TABLE outbox_published_20200101 PARTITION OF outbox_published
       FOR VALUES FROM ('2020-01-01Z') TO ('2020-01-02Z')`,
  );
  await append('of a day');
  await db.pool.query(`UPDATE outbox SET published_at = '2020-01-01T12:00Z'`);
  await append('without a day');
  await markAll(8);
  await append('of this week');
  await markAll(6);
  await append('unpublished');
  await db.pool.query(`UPDATE outbox SET created_at = '2020-01-01' WHERE published_at IS NULL`);
  await maintainDays(db.pool, OUTBOX_PARTITIONS);
  await runPurge(db.pool, purgeOutbox);
  expect(await placesOf('of a day', 'without a day', 'of this week', 'unpublished')).toEqual({
    'of this week': 'outbox_published_default',
    unpublished: 'outbox_waiting',
  });
});

test('when the mark of an earlier relay moves an event away meanwhile, the others are marked, and none is published again', async () => {
  await open(openMessagingTestDatabase('outbox_marked_twice'));
  await append('one', 'two', 'three');
  const earlier = await db.pool.connect();
  await earlier.query('BEGIN');
  await earlier.query(`UPDATE outbox SET published_at = now() WHERE key = 'two'`);
  const bus = recordingBus();
  const relay = startTestRelay(db, bus);
  const countWaiting = async () => {
    const { rows } = await db.pool.query(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows[0].waiting as number;
  };
  await expect.poll(countWaiting, { timeout: 15_000 }).toBe(1);
  await earlier.query('COMMIT');
  earlier.release();
  await relay.settled();
  const place = 'outbox_published_DAY';
  expect(await placesOf(...keysOf(bus.published))).toEqual({
    one: place,
    two: place,
    three: place,
  });
  expect(keysOf(bus.published)).toEqual(['one', 'two', 'three']);
});

test('the relay reads and marks the queue by its indexes, and no other partition', async () => {
  await open(openMessagingTestDatabase('outbox_plan'));
  const bus = recordingBus();
  const relay = startTestRelay(db, bus);
  await append('one');
  await relay.settled();
  expect(keysOf(bus.published)).toEqual(['one']);
  const plan = await inTransaction(db.reserved, async (tx) => {
    const { rows } = await tx.query(
      `EXPLAIN (COSTS OFF) UPDATE outbox SET published_at = now()
       WHERE id = ANY ('{1,2}') AND shard = 1 AND published_at IS NULL`,
    );
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });
  expect(plan).toContain('Index Scan using outbox_');
  expect(plan).not.toContain('Seq Scan');
  expect(plan).not.toContain('outbox_published');
});

test('the events of an earlier version are published in their order, while its replicas go on', async () => {
  await open(openEarlierMessagingDatabase('outbox_migrated'));
  await append('published');
  await markAll(1);
  await append('waiting');
  const written = ['waiting'];
  let isOver = false;
  const write = async () => {
    // As many as one round takes of a shard, so that the first round publishes all.
    for (let n = 0; !isOver && n < 400; n += 1) {
      await append(`new ${n}`);
      written.push(`new ${n}`);
    }
  };
  const migrating = migrateMessaging(db).finally(() => {
    isOver = true;
  });
  await Promise.all([migrating, write()]);
  await append('last');
  expect(await placesOf('published', 'waiting', 'last')).toEqual({
    published: 'outbox_before',
    waiting: 'outbox_before',
    last: 'outbox_waiting',
  });
  const bus = recordingBus();
  const relay = startTestRelay(db, bus);
  await relay.settled();
  // A round publishes the shards together, in the order of their ids.
  expect(keysOf(bus.published)).toEqual([...written, 'last']);
  expect(await republishOutbox(db.pool, new Date(0))).toBe(written.length + 2);
  await relay.settled();
  // A batch that the relay publishes under its old fence is published again.
  const republished = new Set(keysOf(bus.published).slice(written.length + 1));
  expect([...republished]).toEqual(['published', ...written, 'last']);
});

test('attaching the table of an earlier version reads none of its rows', async () => {
  await open(openEarlierMessagingDatabase('outbox_attached'));
  await append('one');
  await migrateMessaging(db);
  const scans = async () => {
    const { rows } = await db.pool.query(
      `SELECT seq_scan::int AS scans FROM pg_stat_user_tables WHERE relname = 'outbox_before'`,
    );
    return rows[0].scans as number;
  };
  // Two built its indexes when it was made. The third is that of the validation, which nothing waits for.
  await expect.poll(scans, { timeout: 15_000 }).toBe(3);
});

test('an outbox whose shards were raised keeps them when it is replaced, and its ids count as drawn', async () => {
  await open(openEarlierMessagingDatabase('outbox_raised'));
  await raiseShards(db.pool, 16, []);
  await append('earlier');
  await migrateMessaging(db);
  const { rows } = await db.pool.query(
    `SELECT max(id) <= pg_sequence_last_value(pg_get_serial_sequence('outbox', 'id')::regclass) AS drawn FROM outbox`,
  );
  expect(rows).toEqual([{ drawn: true }]);
  await append(...Array.from({ length: 20 }, (_, index) => `key ${index}`));
  const { rows: others } = await db.pool.query(
    'SELECT FROM outbox WHERE shard <> outbox_shard(key)',
  );
  expect(others).toEqual([]);
});

test('the rows of an earlier version are dropped once all are published and past retention', async () => {
  await open(openEarlierMessagingDatabase('outbox_dropped'));
  await append('early', 'late', 'last');
  await migrateMessaging(db);
  const attempt = () => dropEarlierTable(db.pool, earlierOutbox());
  const publish = (key: string, daysAgo: number) =>
    db.pool.query(`UPDATE outbox SET published_at = now() - $2 * interval '1 day' WHERE key = $1`, [
      key,
      daysAgo,
    ]);
  await publish('last', 8);
  await publish('early', 8);
  await attempt();
  expect(await exists('outbox_before')).toBe(true);
  await publish('late', 6);
  await attempt();
  expect(await exists('outbox_before')).toBe(true);
  await publish('late', 8);
  await attempt();
  expect(await exists('outbox_before')).toBe(false);
  await attempt();
});
