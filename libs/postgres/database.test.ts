import { once } from 'node:events';
import { createServer } from 'node:net';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import { EntitySchema, type MigrationInterface, type QueryRunner } from 'typeorm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, type DatabaseOptions, openDatabase } from './database.ts';
import { isDatabaseUnavailable } from './error-classes.ts';
import { DatabaseNewerError } from './migrate.ts';
import { defineStatement } from './statement.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { inTransaction } from './transaction.ts';

class Things1763000000000 implements MigrationInterface {
  readonly name = 'Things1763000000000';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE things (id int PRIMARY KEY, day date, amount numeric)');
    // Long enough for another process to run the migration at the same time.
    await runner.query('SELECT pg_sleep(0.2)');
  }
  async down(): Promise<void> {}
}

class Colours1763000000001 implements MigrationInterface {
  readonly name = 'Colours1763000000001';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE things ADD COLUMN colour text');
  }
  async down(): Promise<void> {}
}

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
    migrations: [Things1763000000000],
    ...options,
  });
  opened.push(database);
  return database;
}

test('processes that start at once migrate once', async () => {
  await Promise.all([open(), open(), open()]);
  const { rows } = await (await open()).pool.query('SELECT name FROM migrations');
  expect(rows).toEqual([{ name: 'Things1763000000000' }]);
});

test('a newer version adds its migrations to what is there', async () => {
  const old = await open();
  await old.pool.query('INSERT INTO things (id) VALUES (1)');
  const newer = await open({ migrations: [Things1763000000000, Colours1763000000001] });
  expect((await newer.pool.query('SELECT id, colour FROM things')).rows).toEqual([
    { id: 1, colour: null },
  ]);
});

test('a database of a newer version is refused and left as it is', async () => {
  await open({ migrations: [Things1763000000000, Colours1763000000001] });
  const refused = open();
  await expect(refused).rejects.toBeInstanceOf(DatabaseNewerError);
  await expect(refused).rejects.toThrow('Colours1763000000001');
});

test('a migration that waits for a table in use does not block later statements on it', async () => {
  const old = await open();
  const migrated = await inTransaction(old.pool, async (tx) => {
    await tx.query('SELECT FROM things');
    const later = open({ migrations: [Things1763000000000, Colours1763000000001] });
    await expect.poll(() => lockWaiters(old)).toBe(1);
    await expect.poll(() => lockWaiters(old), { timeout: 5_000 }).toBe(0);
    // Between two attempts of the migration, readers get the table.
    await old.pool.query('SELECT FROM things');
    return { later };
  });
  await migrated.later;
});

async function lockWaiters({ pool }: Database): Promise<number> {
  const { rows } = await pool.query(
    `SELECT count(*) FROM pg_stat_activity
     WHERE wait_event = 'relation' AND datname = current_database()`,
  );
  return rows[0].count;
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

test('a statement that exceeds its timeout is cancelled', async () => {
  const { pool } = await open({ poolSize: 1, statementTimeoutMs: 200 });
  await expect(pool.query('SELECT pg_sleep(10)')).rejects.toMatchObject({ code: '57014' });
});

test('an unreachable PostgreSQL is waited for until `waitMs` has passed', async () => {
  const server = createServer((socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = `postgres://a:b@127.0.0.1:${address.port}/c`;
  await expect(open({ url, waitMs: 300 })).rejects.toSatisfy(isDatabaseUnavailable);
  server.close();
});

test('a wrong password rejects at once', async () => {
  const url = new URL(home.url);
  url.password = 'wrong';
  await expect(open({ url: url.href })).rejects.toMatchObject({ code: '28P01' });
});
