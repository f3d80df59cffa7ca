import { randomUUID } from 'node:crypto';
import type { EventMessage } from '@creditlane/events/message';
import { toMessage } from '@creditlane/events/message';
import { defineStatement } from '@creditlane/postgres/statement';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openMessagingTestDatabase } from './test-messaging-database.ts';
import { createInboxHandler, type ReceivedEvent } from './transactional-inbox.ts';

let db: OpenTestDatabase;
/** The keys that each commit told of. */
const commits: string[][] = [];
/**
 * Called before each event is applied; what it throws is the handling's failure, and so is what comes of
 * the SQL that it gives to be run before the event's effect.
 */
let meet: (event: ReceivedEvent) => string[];
let handle: (batch: EventMessage[]) => Promise<void>;

beforeAll(async () => {
  db = await openMessagingTestDatabase('inbox');
  await db.pool.query('CREATE TABLE effects (id bigint GENERATED ALWAYS AS IDENTITY, key text)');
  handle = createInboxHandler({
    consumer: 'test',
    pool: db.pool,
    log: silentLog,
    metrics: db.metrics,
    planWrites(events) {
      const writes = events.flatMap((event) => {
        return [...meet(event).map(anew), insertEffect.query([event.key])];
      });
      return { writes, result: events.map(({ key }) => key) };
    },
    onCommitted: (keys) => void commits.push(keys),
  });
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.pool.query('TRUNCATE effects, inbox, dead_letters');
  meet = () => [];
  commits.length = 0;
});

const insertEffect = defineStatement('effect_insert', 'INSERT INTO effects (key) VALUES ($1)');

let drawn = 0;
/** A statement of its own, whatever ran before. */
function anew(sql: string) {
  drawn += 1;
  return defineStatement(`met_${drawn}`, sql).query();
}

function message(key: string, id: string = randomUUID()): EventMessage {
  return toMessage(
    {
      id,
      topic: 'creditlane.decisions.v1',
      key,
      type: 'creditlane.decisions.v1.DecisionRecorded',
      payload: { applicationId: key },
      time: new Date(),
    },
    'decisions',
  );
}

async function effects(): Promise<string[]> {
  const { rows } = await db.pool.query<{ key: string }>('SELECT key FROM effects ORDER BY id');
  return rows.map(({ key }) => key);
}

async function deadLetters(): Promise<{ key: string; reason: string; value: Buffer }[]> {
  return (await db.pool.query('SELECT key, reason, value FROM dead_letters ORDER BY id')).rows;
}

/** The event cannot be handled, however often it is tried; counts the tries. */
function poison(key: string): { tries: number } {
  const count = { tries: 0 };
  meet = (event) => {
    if (event.key !== key) return [];
    count.tries += 1;
    throw Object.assign(new Error(`${key} makes no sense`), { loggable: true });
  };
  return count;
}

test('events are applied once and in order, however often they come', async () => {
  const batch = ['a', 'b', 'c'].map((key) => message(key));
  await handle(batch);
  await handle([...batch, message('d')]);
  expect(await effects()).toEqual(['a', 'b', 'c', 'd']);
});

test('an event that comes twice in one batch is applied once', async () => {
  const twice = message('a');
  await handle([twice, message('b'), twice]);
  expect(await effects()).toEqual(['a', 'b']);
});

test('the same batch at two consumers of a group at once is applied once', async () => {
  const batch = ['a', 'b', 'c'].map((key) => message(key));
  await Promise.all([handle(batch), handle(batch), handle(batch)]);
  expect(await effects()).toEqual(['a', 'b', 'c']);
});

test('a consumer gets the decoded event with its id, key and trace', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const sent = message('a');
  sent.headers.traceparent = traceparent;
  const received: ReceivedEvent[] = [];
  meet = (event) => {
    received.push(event);
    return [];
  };
  await handle([sent]);
  expect(received).toMatchObject([
    {
      id: sent.headers.ce_id,
      key: 'a',
      traceparent,
      type: 'creditlane.decisions.v1.DecisionRecorded',
      event: { applicationId: 'a' },
    },
  ]);
});

test('what is applied is told of once it is committed, and only then', async () => {
  await handle([message('a'), message('b')]);
  expect(commits).toEqual([['a', 'b']]);
  poison('bad');
  await handle([message('c'), message('bad'), message('d')]);
  expect(commits).toEqual([['a', 'b'], ['c'], ['d']]);
});

test('what was known before commits nothing that is told of', async () => {
  const known = message('a');
  await handle([known]);
  await handle([known]);
  expect(commits).toEqual([['a']]);
});

test('a poisonous event is parked after three tries and the rest goes on', async () => {
  const count = poison('bad');
  const bad = message('bad');
  await handle([message('a'), bad, message('b')]);
  expect(await effects()).toEqual(['a', 'b']);
  // Once with the batch, then three times by itself.
  expect(count.tries).toBe(4);
  const [letter, ...others] = await deadLetters();
  expect(others).toEqual([]);
  expect(letter).toMatchObject({
    key: 'bad',
    reason: expect.stringMatching(/^Error: bad makes no sense\n {4}at /),
  });
  expect(letter?.value).toEqual(Buffer.from(bad.value));
});

test('a failed try leaves no trace of itself', async () => {
  let tries = 0;
  meet = () => {
    tries += 1;
    return ["INSERT INTO effects (key) VALUES ('half')", `SELECT 1 / ${tries < 3 ? 0 : 1}`];
  };
  await handle([message('a')]);
  expect(await effects()).toEqual(['half', 'a']);
  expect(await deadLetters()).toEqual([]);
});

test('an event that the database refuses is poison', async () => {
  meet = ({ key }) => (key === 'bad' ? ['SELECT 1 / 0'] : []);
  await handle([message('bad'), message('a')]);
  expect(await effects()).toEqual(['a']);
  expect(await deadLetters()).toMatchObject([
    { key: 'bad', reason: expect.stringMatching(/^error: 22012\n/) },
  ]);
});

test('bytes that are no event are parked at once', async () => {
  const garbled = { ...message('garbled'), value: Buffer.from([0xff, 0xff]) };
  const unknown = message('unknown');
  unknown.headers.ce_type = 'creditlane.decisions.v9.Rescinded';
  const nameless = message('nameless', 'not a uuid');
  await handle([garbled, unknown, nameless, message('a')]);
  expect(await effects()).toEqual(['a']);
  expect(await deadLetters()).toMatchObject([
    { key: 'garbled', reason: expect.stringContaining('the value is not a') },
    { key: 'unknown', reason: expect.stringContaining('unknown event type') },
    { key: 'nameless', reason: expect.stringContaining('no ce_id') },
  ]);
});

test('a parked event that comes again is parked once', async () => {
  poison('bad');
  const bad = message('bad');
  await handle([bad]);
  await handle([bad]);
  expect(await deadLetters()).toHaveLength(1);
});

test('a database outage is not poison: the batch is refused and can come again', async () => {
  meet = () => ['SELECT pg_terminate_backend(pg_backend_pid())'];
  const batch = [message('a'), message('b')];
  await expect(handle(batch)).rejects.toMatchObject({ code: '57P01' });
  expect(await deadLetters()).toEqual([]);
  expect(await effects()).toEqual([]);
  meet = () => [];
  await handle(batch);
  expect(await effects()).toEqual(['a', 'b']);
});

test.each([
  ['a lock that another holds for too long', "SET LOCAL lock_timeout = '1ms'", '55P03'],
  ['a statement that takes too long', "SET LOCAL statement_timeout = '1ms'", '57014'],
])('%s is not poison: the batch is refused and can come again', async (_, limit, code) => {
  const other = await db.pool.connect();
  await other.query('BEGIN');
  await other.query('LOCK TABLE effects IN ACCESS EXCLUSIVE MODE');
  meet = () => [limit];
  await expect(handle([message('a')])).rejects.toMatchObject({ code });
  await other.query('ROLLBACK');
  other.release();
  expect(await deadLetters()).toEqual([]);
  meet = () => [];
  await handle([message('a')]);
  expect(await effects()).toEqual(['a']);
});

test('an outage that comes while messages are tried one by one is not poison either', async () => {
  let tries = 0;
  meet = ({ key }) => {
    if (key === 'bad') throw new Error('no sense in it');
    tries += 1;
    return ['SELECT pg_terminate_backend(pg_backend_pid())'];
  };
  const batch = [message('bad'), message('a')];
  await expect(handle(batch)).rejects.toMatchObject({ code: '57P01' });
  expect(tries).toBe(1);
  expect((await deadLetters()).map(({ key }) => key)).toEqual(['bad']);
  meet = () => [];
  await handle([message('a')]);
  expect(await effects()).toEqual(['a']);
});
