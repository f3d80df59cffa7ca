// Which rows of the outbox the relay reads: beside long transactions, and of those that commit late.
import type { EventMessage } from '@creditlane/events/message';
import { decodeEvent } from '@creditlane/events/topics';
import type { Queryable } from '@creditlane/postgres/statement';
import type { SentQuery } from '@creditlane/postgres/test-capturing-client';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { watchSentQueries } from '@creditlane/postgres/test-sent-queries';
import { inTransaction } from '@creditlane/postgres/transaction';
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import { silentLog } from '@creditlane/runtime/test-log';
import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { appendToOutbox } from '../outbox.ts';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';
import { type Relay, startRelay } from './relay.ts';

/** For a read of 20 events; those that were published meanwhile have some 300 blocks. */
const MAX_BLOCKS = 150;

interface TestEvent {
  key: string;
  sequence: number;
}

let db: OpenTestDatabase;
let relay: Relay | undefined;
let published: TestEvent[];
beforeEach(async () => {
  db = await openMessagingTestDatabase('relay_reads');
  published = [];
});
afterEach(async () => {
  await relay?.close();
  await db.close();
});

function start(): void {
  const publish = async (batch: readonly EventMessage[]) => {
    for (const message of batch) {
      const { event } = decodeEvent(message);
      published.push({
        key: message.key,
        sequence: 'sequence' in event ? Number(event.sequence) : 0,
      });
    }
  };
  const subscribe = () => Promise.reject(new Error('not used in this test'));
  relay = startRelay({
    ...{ database: db, source: 'decisions', log: silentLog, metrics: db.metrics },
    bus: { publish, subscribe, close: () => Promise.resolve() },
  });
}

const appendTo = (tx: Queryable, events: readonly TestEvent[]) =>
  appendToOutbox(
    tx,
    events.map(({ key, sequence }) => ({
      ...{ key, topic: 'creditlane.decisions.v1' },
      type: 'creditlane.decisions.v1.DecisionRecorded',
      payload: { applicationId: key, sequence },
    })),
  );
const append = (event: TestEvent) => appendTo(db.pool, [event]);

const sequencesOf = (key: string) =>
  published.filter((event) => event.key === key).map(({ sequence }) => sequence);

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
  const late = Array.from({ length: 1_200 }, (_, n) => ({ key: 'late', sequence: n + 1 }));
  const reads = watchReads();
  start();
  let firstId = 0;
  let filler = 0;
  const publishFiller = async () => {
    filler += 1;
    await append({ key: 'filler', sequence: filler });
    relay?.wake();
    await expect.poll(() => sequencesOf('filler')).toContain(filler);
  };
  await publishFiller();
  await inTransaction(db.pool, async (tx) => {
    await appendTo(tx, late);
    const { rows } = await tx.query(`SELECT min(id) AS id FROM outbox WHERE key = 'late'`);
    firstId = rows[0].id;
    await vi.waitFor(async () => {
      await publishFiller();
      expect(Math.max(...reads().map(({ afterId }) => afterId))).toBeGreaterThan(firstId);
    }, 30_000);
  });
  await append({ key: 'late', sequence: 1_201 });
  await publishFiller();
  await relay?.settled();
  expect(sequencesOf('late')).toEqual(Array.from({ length: 1_201 }, (_, n) => n + 1));
});

test('beside a long transaction, a read visits few of the events that were published meanwhile', async () => {
  const reads = watchReads();
  const reader = new pg.Client({ connectionString: db.url });
  await reader.connect();
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await reader.query('SELECT FROM outbox');
  start();
  await db.pool.query(
    `INSERT INTO outbox (shard, topic, key, type, payload)
     SELECT 0, 'creditlane.decisions.v1', 'key ' || n, 'creditlane.decisions.v1.DecisionRecorded', '{}'
     FROM generate_series(1, 10000) AS n`,
  );
  await relay?.settled();
  const lastId = await readLastId();
  let sequence = 0;
  const last = await vi.waitFor(async () => {
    sequence += 1;
    await append({ key: 'a', sequence });
    relay?.wake();
    await expect.poll(() => sequencesOf('a')).toContain(sequence);
    const later = reads().find(({ afterId }) => afterId >= lastId);
    return later ?? expect.unreachable('no read has passed the published events yet');
  }, 15_000);
  expect(await countBlocks(last.query)).toBeLessThan(MAX_BLOCKS);
  await reader.end();
});

test('a read visits no further event of a key that has many unpublished ones', async () => {
  const reads = watchReads();
  start();
  await append({ key: 'a', sequence: 1 });
  await relay?.settled();
  await relay?.close();
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
    waits.push({ of: this, published: published.length });
    return originalWait.apply(this, args);
  });
  start();
  await expect.poll(() => published.length, { timeout: 15_000 }).toBe(total);
  const signal = vi.spyOn(WakeSignal.prototype, 'signal');
  relay?.wake();
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
    await appendTo(
      client,
      Array.from({ length: 20 }, (_, n) => ({ key: `key ${n + 1}`, sequence: 1 })),
    );
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
