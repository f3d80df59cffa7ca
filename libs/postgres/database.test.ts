import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import { EntitySchema } from 'typeorm';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type Database, type DatabaseOptions, openDatabase } from './database.ts';
import { isDatabaseUnavailable } from './error-classes.ts';
import { sqlMigration } from './migrations/sql-migration.ts';
import { defineStatement } from './statement.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { inTransaction } from './transaction.ts';

const TABLES = sqlMigration('Things1763000000000', {
  up: ['CREATE TABLE things (id int PRIMARY KEY, day date, amount numeric)'],
});

const things = new EntitySchema<{ id: number; day: string; amount: number }>({
  name: 'things',
  columns: {
    id: { type: 'int', primary: true },
    day: { type: 'date' },
    amount: { type: 'numeric' },
  },
});

let home: TestDatabase;
let opened: Database[];

beforeEach(async () => {
  home = await createTestDatabase('database');
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((database) => database.close()));
  await home.drop();
});

async function open(options: Partial<DatabaseOptions> = {}): Promise<Database> {
  const database = await openDatabase({
    url: home.url,
    poolSize: 2,
    name: 'test',
    log: silentLog,
    metrics: new Metrics(),
    entities: [things],
    migrations: [TABLES],
    ...options,
  });
  opened.push(database);
  return database;
}

test('numbers are returned as numbers, dates as text, and an integer that is too large throws', async () => {
  const { pool, dataSource } = await open();
  const repository = dataSource.getRepository(things);
  await repository.save({ id: 1, day: '2026-02-28', amount: 12.5 });
  expect(await repository.findOneByOrFail({ id: 1 })).toEqual({
    id: 1,
    day: '2026-02-28',
    amount: 12.5,
  });
  const one = defineStatement<Record<string, unknown>>(
    'one',
    'SELECT 9007199254740991::int8 AS big, 0.1::numeric AS n, \'{"a":1}\'::jsonb AS j',
  );
  expect(await one.run(pool)).toEqual([{ big: 9007199254740991, n: 0.1, j: { a: 1 } }]);
  const tooBig = defineStatement('too_big', 'SELECT 9007199254740993::int8 AS big');
  await expect(tooBig.run(pool)).rejects.toThrow('not a safe integer');
});

test('a refused statement does not close its connection', async () => {
  const { pool } = await open({ poolSize: 1 });
  const me = defineStatement<{ pid: number }>('me', 'SELECT pg_backend_pid() AS pid');
  const insert = defineStatement('insert_thing', 'INSERT INTO things (id) VALUES ($1)');
  const [before] = await me.run(pool);
  await insert.run(pool, [1]);
  await expect(insert.run(pool, [1])).rejects.toMatchObject({ code: '23505' });
  const twice = inTransaction(pool, (tx) => insert.run(tx, [1]));
  await expect(twice).rejects.toMatchObject({ code: '23505' });
  expect(await me.run(pool)).toEqual([before]);
});

test('work that throws is rolled back, and its connection is used again', async () => {
  const { pool } = await open({ poolSize: 1 });
  const refused = inTransaction(pool, async (tx) => {
    await tx.query('INSERT INTO things (id) VALUES (1)');
    throw new Error('refused');
  });
  await expect(refused).rejects.toThrow('refused');
  expect((await pool.query('SELECT FROM things')).rowCount).toBe(0);
});

test('lost connections are replaced and the process goes on', async () => {
  const { pool, ready } = await open();
  const killed = inTransaction(pool, async (tx) => {
    await tx.query('SELECT pg_terminate_backend(pg_backend_pid())');
  });
  await expect(killed).rejects.toSatisfy(isDatabaseUnavailable);
  const between = inTransaction(pool, async (tx) => {
    const lost = new Promise<void>((resolve) => tx.once('end', resolve));
    const { rows } = await tx.query('SELECT pg_backend_pid() AS pid');
    await pool.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
    await lost;
    await tx.query('SELECT 1');
  });
  await expect(between).rejects.toSatisfy(isDatabaseUnavailable);
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  expect(ready()).toBe(true);
});

test('a new connection that is lost before its caller listens does not end the process', async () => {
  const { reserved } = await open();
  const first = await reserved.connect();
  const { promise: lost, resolve, reject } = Promise.withResolvers<void>();
  // The server's last message may stand in the read that completes the connection, before any await goes on.
  reserved.connect((error, client, release) => {
    if (error || client === undefined) return reject(error);
    try {
      client.emit('error', new Error('terminating connection due to unexpected postmaster exit'));
      resolve();
    } catch (unhandled) {
      reject(unhandled);
    } finally {
      release(true);
    }
  });
  await lost.finally(() => first.release());
});

const LOSE_CONNECTION = 'SELECT pg_terminate_backend(pg_backend_pid())';

/** A server that accepts connections and answers nothing. */
async function startSilentServer() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection');
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  return {
    url: `postgres://a:b@127.0.0.1:${port}/c`,
    accepted,
    sockets,
    async close() {
      await accepted;
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test('a call that waits for a new connection gets the one that comes free meanwhile', async () => {
  const silent = await startSilentServer();
  let url = home.url;
  const { pool } = await open({ url: () => url, poolSize: 2 });
  const one = defineStatement<{ n: number }>('one', 'SELECT 1 AS n');
  const second = await inTransaction(pool, async (tx) => {
    url = silent.url;
    const waiting = one.run(pool);
    await silent.accepted;
    await one.run(tx);
    return { waiting };
  });
  expect(await second.waiting).toEqual([{ n: 1 }]);
  expect(pool.totalCount).toBe(2);
  // The connection that nobody waits for any more is given up.
  await silent.close();
  await expect.poll(() => pool.totalCount).toBe(1);
});

test('when the connection that comes free is lost, no call waits for it without an end', async () => {
  const silent = await startSilentServer();
  let url = home.url;
  const { pool } = await open({ url: () => url, poolSize: 3 });
  const { losing, waiting } = await inTransaction(pool, async () => {
    url = silent.url;
    const losing = inTransaction(pool, (tx) => tx.query(LOSE_CONNECTION));
    const waiting = defineStatement('one', 'SELECT 1').run(pool);
    await expect.poll(() => silent.sockets).toHaveLength(2);
    return { losing, waiting };
  });
  await expect(losing).rejects.toSatisfy(isDatabaseUnavailable);
  const refused = expect(waiting).rejects.toSatisfy(isDatabaseUnavailable);
  await silent.close();
  await refused;
});

test('a freed connection goes to the call that opens a new one before it goes to younger calls', async () => {
  const silent = await startSilentServer();
  let url = home.url;
  const { pool } = await open({ url: () => url, poolSize: 2 });
  const served: string[] = [];
  const call = async (name: string) => {
    await inTransaction(pool, async () => served.push(name));
  };
  const calls = await inTransaction(pool, async () => {
    url = silent.url;
    const opening = call('opening');
    await silent.accepted;
    return [opening, call('second'), call('third')];
  });
  await Promise.all(calls);
  expect(served).toEqual(['opening', 'second', 'third']);
  await silent.close();
});

test('when the freed connection is lost and the new one fails, one more is opened for the younger call', async () => {
  const silent = await startSilentServer();
  let url = home.url;
  const { pool } = await open({ url: () => url, poolSize: 2 });
  const one = defineStatement<{ n: number }>('one', 'SELECT 1 AS n');
  const { losing, waiting } = await inTransaction(pool, async () => {
    url = silent.url;
    const losing = inTransaction(pool, (tx) => tx.query(LOSE_CONNECTION));
    await silent.accepted;
    return { losing, waiting: one.run(pool) };
  });
  await expect(losing).rejects.toSatisfy(isDatabaseUnavailable);
  url = home.url;
  await silent.close();
  expect(await waiting).toEqual([{ n: 1 }]);
});

test.each([
  { beganMs: 0, limits: 1 },
  { beganMs: 1, limits: 2 },
])(
  'a call that began $beganMs ms after a connect that fails is refused after $limits connect limits at most',
  async ({ beganMs, limits }) => {
    const silent = await startSilentServer();
    let url = home.url;
    const { pool } = await open({ url: () => url, poolSize: 2 });
    const limitMs = pool.options.connectionTimeoutMillis ?? expect.unreachable();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { losing, waiting } = await inTransaction(pool, async () => {
      url = silent.url;
      const losing = inTransaction(pool, (tx) => tx.query(LOSE_CONNECTION));
      await silent.accepted;
      vi.advanceTimersByTime(beganMs);
      return { losing, waiting: defineStatement('one', 'SELECT 1').run(pool) };
    });
    await expect(losing).rejects.toSatisfy(isDatabaseUnavailable);
    const refused = expect(waiting).rejects.toSatisfy(isDatabaseUnavailable);
    vi.advanceTimersByTime(limitMs - beganMs);
    for (let connects = 2; connects <= limits; connects += 1) {
      await expect.poll(() => silent.sockets).toHaveLength(connects);
      vi.advanceTimersByTime(limitMs);
    }
    await refused;
    expect(silent.sockets).toHaveLength(limits);
    await silent.close();
  },
);

test('a call whose new connection fails is refused at once while all others are in use', async () => {
  let url = home.url;
  const { pool } = await open({ url: () => url, poolSize: 2 });
  await inTransaction(pool, async () => {
    url = 'postgres://a:b@127.0.0.1:1/c';
    const refused = defineStatement('nothing', 'SELECT').run(pool);
    await expect(refused).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

test('while every connection of the pool is in use, the reserved connections answer', async () => {
  const { pool, reserved } = await open({ poolSize: 2 });
  const held = await Promise.all([pool.connect(), pool.connect()]);
  // The heartbeat, the leases and the rounds of a relay, at the same time.
  const clients = await Promise.all([1, 2, 3].map(() => reserved.connect()));
  const answers = clients.map((client, n) => client.query('SELECT $1::int AS n', [n]));
  expect((await Promise.all(answers)).map(({ rows }) => rows[0].n)).toEqual([0, 1, 2]);
  for (const client of [...held, ...clients]) client.release();
});

test('writes that wait for a held row take no more than their share of the pool', async () => {
  const { pool, requests } = await open({ poolSize: 4, lockTimeoutMs: 4_000 });
  await pool.query('INSERT INTO things (id) VALUES (1), (2)');
  await pool.query(`GRANT SELECT, UPDATE ON things TO ${home.requestRole}`);
  const db = requests.within({});
  const change = defineStatement('thing_change', 'UPDATE things SET amount = 1 WHERE id = $1');
  const read = defineStatement('thing_read', 'SELECT FROM things WHERE id = $1');
  const writes = await inTransaction(home.sql, async (tx) => {
    await tx.query('SELECT FROM things WHERE id = 1 FOR UPDATE');
    const waiting = Array.from({ length: 20 }, () => change.run(db.onRow('thing 1'), [1]));
    await change.run(db.onRow('thing 2'), [2]);
    expect(await read.run(db, [1])).toHaveLength(1);
    expect(pool.totalCount - pool.idleCount).toBe(1);
    return { waiting };
  });
  expect(await Promise.all(writes.waiting)).toHaveLength(20);
});

test('a write whose caller left while it waited for a connection is not made', async () => {
  const { pool, requests } = await open({ poolSize: 1 });
  await pool.query('INSERT INTO things (id, amount) VALUES (1, 0)');
  await pool.query(`GRANT SELECT, UPDATE ON things TO ${home.requestRole}`);
  const change = defineStatement('thing_raise', 'UPDATE things SET amount = 1 WHERE id = $1');
  const caller = new AbortController();
  const left = await inTransaction(pool, async () => {
    const write = change.run(requests.within({}, caller).onRow('thing 1'), [1]);
    const refused = expect(write).rejects.toThrow('the caller left');
    caller.abort(new Error('the caller left'));
    return { refused };
  });
  await left.refused;
  expect((await pool.query('SELECT amount FROM things')).rows).toEqual([{ amount: 0 }]);
});

test('a statement that exceeds its timeout is cancelled', async () => {
  // Long enough for each statement of the start, on a slow machine, too.
  const { pool } = await open({ poolSize: 1, statementTimeoutMs: 1_000 });
  await expect(pool.query('SELECT pg_sleep(10)')).rejects.toMatchObject({ code: '57014' });
});

test('an unreachable PostgreSQL is waited for until the process shuts down', async () => {
  let attempts = 0;
  const server = createServer((socket) => {
    attempts += 1;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = `postgres://a:b@127.0.0.1:${address.port}/c`;
  const opening = open({ url, isStopping: () => attempts >= 3 });
  await expect(opening).rejects.toSatisfy(isDatabaseUnavailable);
  expect(attempts).toBe(3);
  server.close();
});

test('a wrong password rejects at once', async () => {
  const url = new URL(home.url);
  url.password = 'wrong';
  await expect(open({ url: url.href })).rejects.toMatchObject({ code: '28P01' });
});
