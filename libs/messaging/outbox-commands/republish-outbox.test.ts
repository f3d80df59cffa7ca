import { AWAITED_LOCKS_SQL } from '@creditlane/postgres/test-awaited-locks';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { silentLog } from '@creditlane/runtime/test-log';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { appendToOutbox } from '../outbox.ts';
import type { Relay } from '../relay/relay.ts';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';
import { decisionEvent, type RecordingBus, recordingBus, startTestRelay } from '../test-relay.ts';
import { outboxCommands } from './commands.ts';
import { republishOutbox } from './republish-outbox.ts';

const LONG_AGO = new Date(0);

let db: OpenTestDatabase;
let relay: Relay;
let bus: RecordingBus;

beforeEach(async () => {
  db = await openMessagingTestDatabase('republish');
  onTestFinished(() => db.close());
  bus = recordingBus();
  // A republishing ends the leases; the relay goes on with its next renewal. No other relay takes one that is late.
  relay = startTestRelay(db, bus, { leaseMs: 500 });
});

const append = (...keys: string[]) =>
  appendToOutbox(
    db.pool,
    keys.map((key) => decisionEvent(key)),
  );

/** Each event once: a batch that the relay publishes under its old fence is published again. */
const eventsPublished = () => {
  const byId = new Map(bus.published.map((message) => [message.headers.ce_id, message.key]));
  return [...byId];
};
const keysPublished = () => eventsPublished().map(([, key]) => key);

/** How many transactions wait for a lock on the outbox. */
async function countLockWaiters(): Promise<number> {
  const { rowCount } = await db.pool.query(AWAITED_LOCKS_SQL, ['outbox']);
  return rowCount ?? 0;
}

test('events published since the given time are published again, with the same ids and order', async () => {
  await append('one', 'two', 'one');
  await relay.settled();
  const before = eventsPublished();
  bus.published = [];
  expect(await republishOutbox(db.pool, LONG_AGO)).toBe(3);
  await relay.settled();
  expect(eventsPublished()).toEqual(before);
  expect(keysPublished()).toEqual(['one', 'two', 'one']);
});

test('events published before the given time stay published', async () => {
  await append('early');
  await relay.settled();
  const { rows } = await db.pool.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  await append('late');
  await relay.settled();
  bus.published = [];
  expect(await republishOutbox(db.pool, rows[0]?.now as Date)).toBe(1);
  await relay.settled();
  expect(keysPublished()).toEqual(['late']);
});

/**
 * Republishes while a transaction has marked all events and is not committed, runs `whileWaiting` once the command waits for
 * it, and resolves to the number of events.
 */
async function republishBesideMark(whileWaiting: () => Promise<void>): Promise<number> {
  const marking = await db.pool.connect();
  await marking.query('BEGIN');
  await marking.query('UPDATE outbox SET published_at = now()');
  let isOver = false;
  const republished = republishOutbox(db.pool, LONG_AGO).finally(() => {
    isOver = true;
  });
  const isWaiting = async () => isOver || (await countLockWaiters()) === 1;
  await expect.poll(isWaiting, { interval: 10 }).toBe(true);
  await whileWaiting();
  await marking.query('COMMIT');
  marking.release();
  return republished;
}

test('an event whose mark is committed while events are republished is published again', async () => {
  await relay.close();
  await append('lost');
  expect(await republishBesideMark(() => Promise.resolve())).toBe(1);
});

test('while republishing waits for a transaction, other transactions write to the outbox', async () => {
  await relay.close();
  await append('first');
  expect(await republishBesideMark(() => append('second'))).toBe(1);
});

test('a batch under way while events are republished is published again', async () => {
  const sent = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  bus.accept = () => {
    sent.resolve();
    return answer.promise;
  };
  await append('lost');
  await sent.promise;
  await republishOutbox(db.pool, LONG_AGO);
  bus.accept = () => Promise.resolve();
  answer.resolve();
  await relay.settled();
  expect(bus.published.length).toBeGreaterThan(1);
});

describe('--republish-outbox', () => {
  const run = async (options: Record<string, string>) => {
    const printed: object[] = [];
    const context = {
      settings: {},
      database: db,
      log: silentLog,
      print: (it: object) => void printed.push(it),
    };
    const isDone = await outboxCommands([])['republish-outbox']?.run(context, options);
    return { isDone, printed };
  };

  test('publishes again, says how many events, and ends when topics may be created', async () => {
    await append('one', 'two');
    await relay.settled();
    bus.published = [];
    expect(await run({ since: '2020-03-01T09:30:00+01:00', 'wait-seconds': '1' })).toEqual({
      isDone: true,
      printed: [
        { publishedAgain: 2, since: new Date('2020-03-01T08:30:00Z'), waitMs: 1_000 },
        { topics: 'can be created' },
      ],
    });
    await relay.settled();
    expect(keysPublished()).toEqual(['one', 'two']);
  });

  test.each([
    {},
    { since: '2026-03-01' },
    { since: '2026-03-01T09:30:00' },
    { since: '2026-02-30T09:30:00Z' },
    { since: 'today' },
    // A later year than meant would publish nothing, and the topics would be made without the events.
    { since: '9999-03-01T09:30:00Z' },
  ])(
    'refuses %j, which is no past time with its zone, and publishes nothing again',
    async (options) => {
      await append('one');
      await relay.settled();
      bus.published = [];
      await expect(run(options)).rejects.toThrow('--since must be a past time with its zone');
      await relay.settled();
      expect(bus.published).toEqual([]);
    },
  );
});
