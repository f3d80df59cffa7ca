import { randomUUID } from 'node:crypto';
import type { EventMessage } from '@creditlane/events/message';
import { defineStatement } from '@creditlane/postgres/statement';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import type { PeriodicTask } from '@creditlane/runtime/concurrency/periodic-task';
import { NIL_UUID, newId } from '@creditlane/runtime/ids';
import { newIdOfTime } from '@creditlane/runtime/ids/test-id-of-time';
import { silentLog } from '@creditlane/runtime/test-log';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { areEventsHandled } from '../event-progress.ts';
import { republishOutbox } from '../outbox-commands/republish-outbox.ts';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';
import { createInboxHandler } from '../transactional-inbox.ts';
import { advanceSource, leaseSource, readReconciliation } from './differences.ts';
import { type Source, startReconciler } from './reconciler.ts';
import {
  AFTER_TRANSACTIONS,
  CONSUMER,
  idOf,
  openSource,
  type WriteOptions,
  writeEvent,
} from './test-reconciliation.ts';

const DAY_MS = 86_400_000;

let db: OpenTestDatabase;
let handle: (batch: EventMessage[]) => Promise<void>;
let source: Source;
/** The rounds in which the source was asked. */
let asked: string[];
/** Whether the consumer has messages to handle that were published long ago. */
let isBehind: boolean;
/** How often the reconciler has asked how far the consumer is. */
let looks: number;
/** The events that each look for too few effects was told to know. */
let knownTooFew: string[][];
/** Each look for too few effects: how many events it was about, and when (performance.now()). */
let comparisons: { size: number; startedMs: number; endedMs: number }[];
let reconcilers: PeriodicTask[];

const insertEffect = defineStatement('effect_insert', 'INSERT INTO effects SELECT $1');
const selectTooFew = defineStatement<{ event_id: string }>(
  'effects_missing',
  `SELECT event_id FROM inbox WHERE event_id = ANY ($1::uuid[])
     AND expected_effects > (SELECT count(*) FROM effects WHERE effects.event_id = inbox.event_id)`,
);
beforeAll(async () => {
  db = await openMessagingTestDatabase('reconciler');
  const { pool, metrics } = db;
  await pool.query('CREATE TABLE effects (event_id uuid)');
  handle = createInboxHandler({
    ...{ consumer: CONSUMER, pool, metrics, log: silentLog },
    expectedEffects: () => 1,
    planWrites: (events) => {
      return { writes: events.map(({ id }) => insertEffect.query([id])), result: undefined };
    },
  });
  source = await openSource(db, (position) => asked.push(position));
});
beforeEach(async () => {
  const tables = 'effects, records, inbox, dead_letters, outbox';
  await db.pool.query(
    `TRUNCATE ${tables}, reconciliation_positions, reconciliation_differences RESTART IDENTITY`,
  );
  asked = [];
  reconcilers = [];
  isBehind = false;
  looks = 0;
  knownTooFew = [];
  comparisons = [];
});
afterEach(() => Promise.all(reconcilers.map((reconciler) => reconciler.close())));
afterAll(() => db.close());

/** Starts a reconciler, and resolves when its position is that of the present outbox. */
async function start(): Promise<PeriodicTask> {
  const { pool, metrics } = db;
  const reconciler = startReconciler({
    ...{ pool, metrics, consumer: CONSUMER, sources: [source], log: silentLog, everyMs: 10 },
    subscription: {
      handledUntilMs() {
        looks += 1;
        return isBehind ? Number.NEGATIVE_INFINITY : performance.now();
      },
    },
    async findTooFewEffects(pool, ids, known) {
      knownTooFew.push([...known]);
      const startedMs = performance.now();
      const rows = await selectTooFew.run(pool, [ids]);
      comparisons.push({ size: ids.length, startedMs, endedMs: performance.now() });
      return rows.map(({ event_id }) => event_id);
    },
  });
  reconcilers.push(reconciler);
  await expect
    .poll(async () => (await pool.query('SELECT position FROM reconciliation_positions')).rows)
    .toEqual([{ position: expect.stringContaining('/') }]);
  return reconciler;
}

/** Starts a reconciler that has not to wait until the one before is taken for dead. */
async function takeOver(): Promise<void> {
  await db.pool.query("UPDATE reconciliation_positions SET held_until = '-infinity'");
  await start();
}

/** Writes an event as `writeEvent` does, on the pool unless the test says otherwise. */
const write = ({
  by = db.pool,
  ...options
}: WriteOptions & { by?: pg.Pool | pg.PoolClient } = {}) => writeEvent(by, options);

async function differences(): Promise<Record<string, string>> {
  const { rows } = await db.pool.query<{ event_id: string; kind: string }>(
    'SELECT event_id, kind FROM reconciliation_differences',
  );
  return Object.fromEntries(rows.map(({ event_id, kind }) => [event_id, kind]));
}

/** Resolves after the reconciler has begun and ended further rounds. */
async function rounds(): Promise<void> {
  const count = asked.length;
  await expect.poll(() => asked.length).toBeGreaterThan(count + 2);
}

async function missingEvents(): Promise<number> {
  const text = await db.metrics.text();
  const lines = text.split('\n').filter((line) => line.startsWith('creditlane_missing_events{'));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

test('a published event that is never consumed is missing until it is republished, and the metric counts it', async () => {
  await start();
  const [lost, handled] = [await write(), await write()];
  await handle([handled]);
  await expect.poll(differences).toEqual({ [idOf(lost)]: 'not_handled' });
  expect(await missingEvents()).toBe(1);
  await handle([lost]);
  await expect.poll(differences).toEqual({});
  expect(await missingEvents()).toBe(0);
});

test('while the consumer is behind, nothing is missing, and what is lost is found when it has caught up', async () => {
  await start();
  isBehind = true;
  const [late, lost] = [await write(), await write()];
  await expect.poll(() => looks).toBeGreaterThan(3);
  expect(await differences()).toEqual({});
  await handle([late]);
  isBehind = false;
  await expect.poll(differences).toEqual({ [idOf(lost)]: 'not_handled' });
});

test('an event that is lost while no reconciler runs is found after the restart', async () => {
  const first = await start();
  await first.close();
  const lost = await write();
  await takeOver();
  await expect.poll(differences).toEqual({ [idOf(lost)]: 'not_handled' });
});

test('events are compared 500 at a time, with pauses that are four times as long', async () => {
  const total = 1_500;
  await start();
  await db.pool.query(
    `INSERT INTO outbox (shard, topic, key, type, payload, created_at, published_at)
     SELECT 0, 'creditlane.decisions.v1', 'key', 'creditlane.decisions.v1.DecisionRecorded', '{}',
       now() - interval '1 minute', now() - interval '1 minute'
     FROM generate_series(1, $1)`,
    [total],
  );
  await expect.poll(missingEvents, { timeout: 15_000 }).toBe(total);
  expect(Math.max(...comparisons.map(({ size }) => size))).toBe(500);
  const inOneRound = comparisons
    .slice(comparisons.findIndex(({ size }) => size === 500))
    .slice(0, 3);
  expect(inOneRound).toHaveLength(3);
  // The pauses of one round are two seconds at most.
  let leftMs = 2_000;
  for (const [n, { startedMs }] of inOneRound.entries()) {
    const before = inOneRound[n - 1];
    if (before === undefined) continue;
    const tookMs = before.endedMs - before.startedMs;
    const pausedMs = startedMs - before.endedMs;
    // Timers may end up to a millisecond early.
    expect(pausedMs).toBeGreaterThan(Math.min(4 * tookMs, leftMs) - 1);
    leftMs = Math.max(0, leftMs - pausedMs);
  }
});

test('an event that is handled with fewer effects than it must have is found', async () => {
  await start();
  isBehind = true;
  const [short, whole] = [await write(), await write()];
  await handle([short, whole]);
  await db.pool.query('DELETE FROM effects WHERE event_id = $1', [idOf(short)]);
  isBehind = false;
  await expect.poll(differences).toEqual({ [idOf(short)]: 'too_few_effects' });
  // The comparison has found it, and every later look is told so.
  await expect.poll(() => knownTooFew.at(-1)).toEqual([idOf(short)]);
});

test('a lost event that is republished and then has too few effects is missing as such', async () => {
  await start();
  const lost = await write();
  await expect.poll(differences).toEqual({ [idOf(lost)]: 'not_handled' });
  // As a handling that plans no effect.
  await db.pool.query(
    'INSERT INTO inbox (consumer, event_id, expected_effects) VALUES ($1, $2, 1)',
    [CONSUMER, idOf(lost)],
  );
  await expect.poll(differences).toEqual({ [idOf(lost)]: 'too_few_effects' });
  expect(await missingEvents()).toBe(1);
  // What is found for the first time is looked up as if nothing was known.
  expect(knownTooFew[0]).toEqual([]);
});

test('a difference is returned once, and never to a process without the lease of the source', async () => {
  const [found, holder] = [[{ eventId: newId(), kind: 'not_handled' as const }], randomUUID()];
  await leaseSource(db.pool, { source: 'decisions', holder }, NIL_UUID, 1);
  const advanceAs = (by: string) =>
    advanceSource(
      db.pool,
      { source: 'decisions', holder: by },
      { position: '', isUpToDate: true },
      found,
    );
  expect(await advanceAs(randomUUID())).toEqual([]);
  expect(await differences()).toEqual({});
  expect(await advanceAs(holder)).toEqual(found);
  expect(await advanceAs(holder)).toEqual([]);
});

test('a source whose lease was taken before the clock of the database was set back by an hour is taken over', async () => {
  const lease = () =>
    leaseSource(db.pool, { source: 'decisions', holder: randomUUID() }, NIL_UUID, 1);
  expect(await lease()).toBeDefined();
  expect(await lease()).toBeUndefined();
  await db.pool.query(
    `UPDATE reconciliation_positions SET held_until = held_until + interval '1 hour'`,
  );
  expect(await lease()).toBeDefined();
});

test('a source counts as not compared while a transaction may still write an event before those that wait', async () => {
  await start();
  const transaction = await db.pool.connect();
  await transaction.query('BEGIN');
  await transaction.query(
    `SELECT pg_current_xact_id(), nextval(pg_get_serial_sequence('outbox', 'id'))`,
  );
  const lost = await write();
  const setComparedAt = () =>
    db.pool.query(`UPDATE reconciliation_positions SET compared_at = now() - interval '1 hour'`);
  const age = async () => {
    const [state] = await readReconciliation(db.pool);
    return state?.ageSeconds ?? 0;
  };
  await setComparedAt();
  await rounds();
  // A comparison that had begun before `write`.
  await setComparedAt();
  await rounds();
  expect(await age()).toBeGreaterThan(3_000);
  expect(await differences()).toEqual({});
  await transaction.query('COMMIT');
  transaction.release();
  await expect.poll(differences, AFTER_TRANSACTIONS).toEqual({ [idOf(lost)]: 'not_handled' });
  expect(await age()).toBeLessThan(60);
});

test('a record whose row was lost from the outbox is found', async () => {
  const first = await start();
  await first.close();
  const { rows } = await db.pool.query('SELECT position FROM reconciliation_positions');
  // As a decision that was recorded just after the position.
  const recordedId = String(rows[0]?.position).split('/')[1]?.replace(/.$/, '1') ?? '';
  await db.pool.query('INSERT INTO records VALUES ($1)', [recordedId]);
  await takeOver();
  await expect.poll(differences).toEqual({ [recordedId]: 'not_handled' });
});

test.each([
  ['ahead', 1],
  ['behind', -1],
])(
  'of events by a writer whose clock is a day %s, exactly those that are lost are missing',
  async (_, sign) => {
    await start();
    const idOfWriter = () => newIdOfTime(Date.now() + sign * DAY_MS);
    const handled = await write({ id: idOfWriter() });
    const lost = await write({ id: idOfWriter() });
    await db.pool.query('INSERT INTO records SELECT event_id FROM outbox');
    await handle([handled]);
    await expect.poll(differences).toEqual({ [idOf(lost)]: 'not_handled' });
    await rounds();
    expect(await differences()).toEqual({ [idOf(lost)]: 'not_handled' });
  },
);

test('a dead letter is not missing: it has an alert of its own', async () => {
  await start();
  isBehind = true;
  const event = await write();
  await handle([{ ...event, value: Buffer.from('no event') }]);
  expect(await areEventsHandled(db.pool, CONSUMER, [idOf(event)])).toBe(true);
  isBehind = false;
  await rounds();
  expect(await differences()).toEqual({});
});

test('events that wait to be published are compared after they were, also when all are republished', async () => {
  const first = await start();
  await first.close();
  const [republished, waiting] = [await write(), await write({ isPublished: false })];
  await republishOutbox(db.pool, new Date(0));
  await takeOver();
  await rounds();
  expect(await differences()).toEqual({});
  await db.pool.query('UPDATE outbox SET published_at = now()');
  await expect.poll(differences).toEqual({
    [idOf(republished)]: 'not_handled',
    [idOf(waiting)]: 'not_handled',
  });
});

test('of two replicas, one compares, and the other one goes on after its end', async () => {
  const first = await start();
  await start();
  const lost = await write();
  await expect.poll(differences).toEqual({ [idOf(lost)]: 'not_handled' });
  await first.close();
  await db.pool.query("UPDATE reconciliation_positions SET held_until = '-infinity'");
  await handle([lost]);
  await expect.poll(differences).toEqual({});
});

test('a position above the ids of a restored outbox is refused, and the comparison counts as not made', async () => {
  await start();
  await handle([await write()]);
  const stored = async () => {
    const { rows } = await db.pool.query(
      'SELECT position, compared_at FROM reconciliation_positions',
    );
    return rows[0] ?? expect.unreachable();
  };
  await expect.poll(async () => (await stored()).position).toMatch(/^1\//);
  // Published events are deleted after a week, so an empty outbox alone is none that was restored.
  await db.pool.query('DELETE FROM outbox');
  await rounds();
  const { position } = await stored();
  const { signal } = new AbortController();
  expect((await source.list(position, signal)).eventIds).toEqual([]);
  await db.pool.query('TRUNCATE outbox RESTART IDENTITY');
  await expect(source.list(position, signal)).rejects.toThrow(/restored/);
  await rounds();
  const before = await stored();
  await rounds();
  expect(await stored()).toEqual(before);
});
