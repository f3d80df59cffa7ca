import { randomBytes } from 'node:crypto';
import type { EventMessage } from '@creditlane/events/message';
import { defineStatement, mapQueryResult } from '@creditlane/postgres/statement';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openMessagingTestDatabase } from './test-messaging-database.ts';
import { decisionMessage as message } from './test-relay.ts';
import { createInboxHandler, insertInboxSql, type ReceivedEvent } from './transactional-inbox.ts';

let db: OpenTestDatabase;
/** The keys of the events of each commit. */
const commits: string[][] = [];
/**
 * Called for each event before its effect is written. Returns SQL to run before the effect; an error
 * that it throws, or that the SQL causes, makes the handling fail.
 */
let interfere: (event: ReceivedEvent) => string[];
let handle: (batch: EventMessage[]) => Promise<void>;
const log = createLog('test', { level: 'silent' });

beforeAll(async () => {
  db = await openMessagingTestDatabase('inbox');
  await db.pool.query('CREATE TABLE effects (id bigint GENERATED ALWAYS AS IDENTITY, key text)');
  handle = createInboxHandler({
    consumer: 'test',
    pool: db.pool,
    log,
    metrics: db.metrics,
    planWrites(events) {
      const writes = events.flatMap((event) => {
        return [...interfere(event).map(newQuery), insertEffect.query([event.key])];
      });
      return { writes, result: events.map(({ key }) => key) };
    },
    onCommitted: (keys) => void commits.push(keys),
  });
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.pool.query('TRUNCATE effects, inbox, dead_letters');
  interfere = () => [];
  commits.length = 0;
});

const insertEffect = defineStatement('effect_insert', 'INSERT INTO effects (key) VALUES ($1)');

const insertUnseen = defineStatement(
  'unseen_insert',
  `${insertInboxSql} SELECT 'test', id, NULL FROM unnest($1::uuid[]) AS id`,
);

let queryCount = 0;
/** A query under a new statement name. */
function newQuery(sql: string) {
  queryCount += 1;
  return defineStatement(`met_${queryCount}`, sql).query();
}

async function effects(): Promise<string[]> {
  const { rows } = await db.pool.query<{ key: string }>('SELECT key FROM effects ORDER BY id');
  return rows.map(({ key }) => key);
}

async function deadLetters(): Promise<{ key: string; reason: string; value: Buffer }[]> {
  return (await db.pool.query('SELECT key, reason, value FROM dead_letters ORDER BY id')).rows;
}

/** Makes the handling of a key's events fail every time; counts the attempts. */
function failAlways(key: string): { tries: number } {
  const count = { tries: 0 };
  interfere = (event) => {
    if (event.key !== key) return [];
    count.tries += 1;
    throw Object.assign(new Error(`${key} cannot be handled`), { loggable: true });
  };
  return count;
}

test('events that are delivered again are applied once and in order', async () => {
  const batch = ['a', 'b', 'c'].map((key) => message(key));
  await handle(batch);
  await handle([...batch, message('d')]);
  expect(await effects()).toEqual(['a', 'b', 'c', 'd']);
});

test('an event that is twice in one batch is applied once', async () => {
  const twice = message('a');
  await handle([twice, message('b'), twice]);
  expect(await effects()).toEqual(['a', 'b']);
});

test('a batch that several members of a group handle at once is applied once', async () => {
  const batch = ['a', 'b', 'c'].map((key) => message(key));
  await Promise.all([handle(batch), handle(batch), handle(batch)]);
  expect(await effects()).toEqual(['a', 'b', 'c']);
});

test('a batch with an event that another process inserts meanwhile is applied in one further transaction', async () => {
  const planned: string[][] = [];
  const handleInOneRoundTrip = createInboxHandler({
    consumer: 'test',
    pool: db.pool,
    log,
    metrics: db.metrics,
    planWrites(events) {
      planned.push(events.map(({ key }) => key));
      return { writes: events.map(({ key }) => insertEffect.query([key])), result: 'planned' };
    },
    // As the statement of a batch that has not seen the other process's insert.
    writeInOneRoundTrip: (events) =>
      mapQueryResult(insertUnseen.query([events.map(({ id }) => id)]), () => 'in one round trip'),
  });
  const known = message('a');
  await handle([known]);
  await handleInOneRoundTrip([known, message('b'), message('c')]);
  expect(planned).toEqual([['b', 'c']]);
  expect(await effects()).toEqual(['a', 'b', 'c']);
  expect(await deadLetters()).toEqual([]);
});

test('a consumer receives the decoded event with its id, key and traceparent', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const sent = message('a');
  sent.headers.traceparent = traceparent;
  const received: ReceivedEvent[] = [];
  interfere = (event) => {
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

test('onCommitted is called after each commit with the events of that commit', async () => {
  await handle([message('a'), message('b')]);
  expect(commits).toEqual([['a', 'b']]);
  failAlways('bad');
  await handle([message('c'), message('bad'), message('d')]);
  expect(commits).toEqual([['a', 'b'], ['c'], ['d']]);
});

test('a batch of repeated events does not call onCommitted', async () => {
  const known = message('a');
  await handle([known]);
  await handle([known]);
  expect(commits).toEqual([['a']]);
});

test('an event that fails three times becomes a dead letter, and the others are applied', async () => {
  const count = failAlways('bad');
  const bad = message('bad');
  await handle([message('a'), bad, message('b')]);
  expect(await effects()).toEqual(['a', 'b']);
  // One attempt with the batch, then three alone.
  expect(count.tries).toBe(4);
  const [letter, ...others] = await deadLetters();
  expect(others).toEqual([]);
  expect(letter).toMatchObject({
    key: 'bad',
    reason: expect.stringMatching(/^Error: bad cannot be handled\n {4}at /),
  });
  expect(letter?.value).toEqual(Buffer.from(bad.value));
});

test('the rows of a failed attempt are rolled back', async () => {
  let tries = 0;
  interfere = () => {
    tries += 1;
    return ["INSERT INTO effects (key) VALUES ('half')", `SELECT 1 / ${tries < 3 ? 0 : 1}`];
  };
  await handle([message('a')]);
  expect(await effects()).toEqual(['half', 'a']);
  expect(await deadLetters()).toEqual([]);
});

test('an event whose write the database refuses becomes a dead letter', async () => {
  interfere = ({ key }) => (key === 'bad' ? ['SELECT 1 / 0'] : []);
  await handle([message('bad'), message('a')]);
  expect(await effects()).toEqual(['a']);
  expect(await deadLetters()).toMatchObject([
    { key: 'bad', reason: expect.stringMatching(/^error: 22012\n/) },
  ]);
});

test('bytes that are no event become a dead letter at once', async () => {
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

test('bytes that are no event are stored once, although their batch is delivered until it can be handled', async () => {
  let isAway = true;
  const handleWithPeer = createInboxHandler({
    ...{ consumer: 'test', pool: db.pool, log, metrics: db.metrics },
    prefetch: () => (isAway ? Promise.reject(new Error('a peer is away')) : Promise.resolve()),
    planWrites: () => ({ writes: [], result: undefined }),
  });
  const nameless = message('nameless');
  delete nameless.headers.ce_id;
  const batch = [nameless, message('a')];
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    await expect(handleWithPeer(batch)).rejects.toThrow('a peer is away');
  }
  isAway = false;
  await handleWithPeer(batch);
  expect(await deadLetters()).toMatchObject([{ key: 'nameless' }]);
});

test('a message with bytes that PostgreSQL cannot store becomes a dead letter', async () => {
  const withHeaders = (key: string, headers: Record<string, string>) => {
    const sent = message(key);
    return { ...sent, headers: { ...sent.headers, ...headers } };
  };
  const longId = randomBytes(4_000).toString('base64');
  await handle([
    { ...message('a'), key: 'a\0' },
    withHeaders('b', { ce_source: 'decisions\0', ce_id: 'none' }),
    withHeaders('c', { 'ce_\0': '', ce_id: 'none too' }),
    withHeaders('d', { ce_type: 'DecisionRecorded\0' }),
    // As index entries these would be too long.
    withHeaders('e', { ce_id: `${longId}1` }),
    withHeaders('e', { ce_id: `${longId}2` }),
    message('f'),
  ]);
  expect((await deadLetters()).map(({ key }) => key).sort()).toEqual([
    'a\uFFFD',
    'b',
    'c',
    'd',
    'e',
    'e',
  ]);
  expect(await effects()).toEqual(['f']);
});

test('a dead letter that is delivered again is stored once', async () => {
  failAlways('bad');
  const bad = message('bad');
  await handle([bad]);
  await handle([bad]);
  expect(await deadLetters()).toHaveLength(1);
});

test('a batch whose connection is lost is rejected without a dead letter, and applied later', async () => {
  interfere = () => ['SELECT pg_terminate_backend(pg_backend_pid())'];
  const batch = [message('a'), message('b')];
  await expect(handle(batch)).rejects.toMatchObject({ code: '57P01' });
  expect(await deadLetters()).toEqual([]);
  expect(await effects()).toEqual([]);
  interfere = () => [];
  await handle(batch);
  expect(await effects()).toEqual(['a', 'b']);
});

test.each([
  ['a lock timeout', "SET LOCAL lock_timeout = '1ms'", '55P03'],
  ['a statement timeout', "SET LOCAL statement_timeout = '1ms'", '57014'],
])(
  'after %s the batch is rejected without a dead letter, and applied later; the log names the event',
  async (_, limit, code) => {
    const warn = vi.spyOn(log, 'warn');
    const event = message('a');
    const fields = expect.objectContaining({ eventId: event.headers.ce_id });
    const other = await db.pool.connect();
    await other.query('BEGIN');
    await other.query('LOCK TABLE effects IN ACCESS EXCLUSIVE MODE');
    interfere = () => [limit];
    await expect(handle([event])).rejects.toMatchObject({ code });
    await other.query('ROLLBACK');
    other.release();
    expect(warn.mock.calls).toEqual([[fields, expect.stringContaining('takes too long')]]);
    warn.mockRestore();
    expect(await deadLetters()).toEqual([]);
    interfere = () => [];
    await handle([event]);
    expect(await effects()).toEqual(['a']);
  },
);

test('a batch that takes longer than a statement may is applied in parts, in order', async () => {
  interfere = () => [
    `DO $$ BEGIN
       IF (SELECT count(*) FROM inbox WHERE xmin::text = txid_current()::text) > 2 THEN
         RAISE 'canceling statement due to statement timeout' USING ERRCODE = '57014';
       END IF;
     END $$`,
  ];
  await handle(['a', 'b', 'c', 'd', 'e'].map((key) => message(key)));
  expect(commits).toEqual([['a', 'b'], ['c'], ['d', 'e']]);
  expect(await deadLetters()).toEqual([]);
});

test('a connection lost while events are tried one by one stores no dead letter for them', async () => {
  let tries = 0;
  interfere = ({ key }) => {
    if (key === 'bad') throw new Error('it cannot be handled');
    tries += 1;
    return ['SELECT pg_terminate_backend(pg_backend_pid())'];
  };
  const batch = [message('bad'), message('a')];
  await expect(handle(batch)).rejects.toMatchObject({ code: '57P01' });
  expect(tries).toBe(1);
  expect((await deadLetters()).map(({ key }) => key)).toEqual(['bad']);
  interfere = () => [];
  await handle([message('a')]);
  expect(await effects()).toEqual(['a']);
});
