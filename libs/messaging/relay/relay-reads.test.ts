// Which rows of the outbox the relay reads: beside long transactions, and of those that commit late.
import type { SentQuery } from '@creditlane/postgres/test-capturing-client';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { watchSentQueries } from '@creditlane/postgres/test-sent-queries';
import { inTransaction } from '@creditlane/postgres/transaction';
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import pg from 'pg';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { appendToOutbox } from '../outbox.ts';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';
import {
  decisionEvent,
  holdLeaseClock,
  type RecordingBus,
  recordingBus,
  sequencesOf,
  startTestRelay,
} from '../test-relay.ts';

/** For a read of 20 events; those that were published meanwhile have some 300 blocks. */
const MAX_BLOCKS = 150;

let db: OpenTestDatabase;
let bus: RecordingBus;
beforeEach(async () => {
  db = await openMessagingTestDatabase('relay_reads');
  onTestFinished(() => db.close());
  bus = recordingBus();
});

const append = (key: string, sequence: number) =>
  appendToOutbox(db.pool, [decisionEvent(key, sequence)]);

/** The reads of the outbox from now on, last first: their text, and after which id they read. */
function watchReads() {
  const sent = watchSentQueries();
  return () =>
    sent()
      .filter(({ name }) => name === 'outbox_read')
      .map((query) => ({ query, afterId: Number(query.values[3]) }))
      .reverse();
}

test('events committed with ids that the reads have passed are published before later ones of their key', async () => {
  // More than one batch of them.
  const late = Array.from({ length: 1_200 }, (_, n) => decisionEvent('late', n + 1));
  const reads = watchReads();
  const relay = startTestRelay(db, bus);
  let firstId = 0;
  let filler = 0;
  const publishFiller = async () => {
    filler += 1;
    await append('filler', filler);
    relay.wake();
    await expect.poll(() => sequencesOf(bus.published, 'filler')).toContain(filler);
  };
  await publishFiller();
  await inTransaction(db.pool, async (tx) => {
    await appendToOutbox(tx, late);
    const { rows } = await tx.query(`SELECT min(id) AS id FROM outbox WHERE key = 'late'`);
    firstId = rows[0].id;
    await vi.waitFor(async () => {
      await publishFiller();
      expect(Math.max(...reads().map(({ afterId }) => afterId))).toBeGreaterThan(firstId);
    }, 30_000);
  });
  await append('late', 1_201);
  await publishFiller();
  await relay.settled();
  expect(sequencesOf(bus.published, 'late')).toEqual(
    Array.from({ length: 1_201 }, (_, n) => n + 1),
  );
});

test('beside a long transaction, a read visits few of the events that were published meanwhile', async () => {
  const reads = watchReads();
  const reader = new pg.Client({ connectionString: db.url });
  await reader.connect();
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await reader.query('SELECT FROM outbox');
  const relay = startTestRelay(db, bus);
  await db.pool.query(
    `INSERT INTO outbox (shard, topic, key, type, payload)
     SELECT 0, 'creditlane.decisions.v1', 'key ' || n, 'creditlane.decisions.v1.DecisionRecorded', '{}'
     FROM generate_series(1, 10000) AS n`,
  );
  await relay.settled();
  const lastId = await readLastId();
  let sequence = 0;
  const last = await vi.waitFor(async () => {
    sequence += 1;
    await append('a', sequence);
    relay.wake();
    await expect.poll(() => sequencesOf(bus.published, 'a')).toContain(sequence);
    const later = reads().find(({ afterId }) => afterId >= lastId);
    return later ?? expect.unreachable('no read has passed the published events yet');
  }, 15_000);
  expect(await countBlocks(last.query)).toBeLessThan(MAX_BLOCKS);
  await reader.end();
});

test('a read visits no further event of a key that has many unpublished ones', async () => {
  const reads = watchReads();
  const relay = startTestRelay(db, bus);
  await append('a', 1);
  await relay.settled();
  await relay.close();
  const read = reads()[0] ?? expect.unreachable('the relay has read the outbox');
  await db.pool.query(
    `INSERT INTO outbox (shard, topic, key, type, payload)
     SELECT 0, 'creditlane.decisions.v1', 'key ' || n % 20, 'creditlane.decisions.v1.DecisionRecorded', '{}'
     FROM generate_series(1, 10000) AS n`,
  );
  // A read has 500 rows, each with a search by its key: 4 blocks. Their keys have 10,000 rows in 200 blocks.
  expect(await countBlocks(read.query)).toBeLessThan(3_000);
});

test('the relay waits for no wake-up while the outbox has unpublished events', async () => {
  const total = 3_000;
  // A relay whose lease has expired waits until it has renewed the lease.
  holdLeaseClock();
  // The events that one read finds are more than one batch.
  await db.pool.query(
    `INSERT INTO outbox (shard, topic, key, type, payload)
     SELECT 0, 'creditlane.decisions.v1', 'key ' || n, 'creditlane.decisions.v1.DecisionRecorded',
       json_build_object('decision', json_build_object('conditions', repeat('x', 2000)))
     FROM generate_series(1, $1) AS n`,
    [total],
  );
  const originalWait = WakeSignal.prototype.wait;
  const waits: { of: WakeSignal; published: number }[] = [];
  vi.spyOn(WakeSignal.prototype, 'wait').mockImplementation(function (this: WakeSignal, ...args) {
    waits.push({ of: this, published: bus.published.length });
    return originalWait.apply(this, args);
  });
  const relay = startTestRelay(db, bus);
  await expect.poll(() => bus.published.length, { timeout: 15_000 }).toBe(total);
  const signal = vi.spyOn(WakeSignal.prototype, 'signal');
  relay.wake();
  const [wakeUps] = signal.mock.contexts;
  const early = waits.filter((it) => it.of === wakeUps && it.published > 0 && it.published < total);
  expect([wakeUps instanceof WakeSignal, early]).toEqual([true, []]);
});

async function readLastId(): Promise<number> {
  const { rows } = await db.pool.query('SELECT max(id) AS id FROM outbox');
  return rows[0].id;
}

/** How many blocks the statement reads beside 20 further events, by the plan that the service's connections make. */
async function countBlocks({ text, values }: SentQuery): Promise<number> {
  const client = await db.reserved.connect();
  try {
    await client.query('BEGIN');
    const further = Array.from({ length: 20 }, (_, n) => decisionEvent(`key ${n + 1}`));
    await appendToOutbox(client, further);
    const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, [
      ...values,
    ]);
    const { Plan: plan } = rows[0]['QUERY PLAN'][0];
    expect(plan['Actual Rows']).toBeGreaterThanOrEqual(20);
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}
