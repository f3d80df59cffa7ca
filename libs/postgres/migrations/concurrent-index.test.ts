import { silentLog } from '@creditlane/runtime/test-log';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { migrate } from './migrate.ts';
import { concurrentIndexMigration, sqlMigration } from './sql-migration.ts';

const TABLE = sqlMigration('Things1763000000000', {
  up: ['CREATE TABLE things (name text)'],
});
const INDEX = concurrentIndexMigration('ThingsName1763000000001', 'things_name', 'things (name)');

let home: TestDatabase;
let clients: pg.Client[];
beforeAll(async () => {
  home = await createTestDatabase('concurrent_index');
});
afterAll(() => home?.drop());
beforeEach(async () => {
  clients = [];
  await home.sql.query('DROP SCHEMA public CASCADE');
  await home.sql.query('CREATE SCHEMA public');
  await migrate(home.url, [TABLE], silentLog);
});
afterEach(() => Promise.all(clients.map((client) => client.end())));

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: home.url });
  clients.push(client);
  await client.connect();
  return client;
}

const addIndex = () => migrate(home.url, [TABLE, INDEX], silentLog);

const isValid = async (sql: pg.Client) => {
  const { rows } = await sql.query(
    "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'things_name'::regclass",
  );
  return rows[0].valid;
};

test('an index is created while the table is written, once, however long it waits for earlier transactions', async () => {
  const [slow, writer] = [await connect(), await connect()];
  await slow.query('BEGIN');
  await slow.query("INSERT INTO things VALUES ('slow')");
  const added = addIndex();
  // Longer than any other migration waits for a lock.
  const waiting = async () => {
    const { rows } = await writer.query(
      `SELECT left(query, 25) AS query FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'
         AND query_start < now() - interval '500 ms'`,
    );
    return rows;
  };
  await expect.poll(waiting).toEqual([{ query: 'CREATE INDEX CONCURRENTLY' }]);
  await writer.query("SET lock_timeout = '50ms'");
  await writer.query("INSERT INTO things VALUES ('new')");
  await slow.query('COMMIT');
  await added;
  expect(await isValid(writer)).toBe(true);
});

test('processes that start at once create the index once, and none waits for the other forever', async () => {
  await Promise.all([addIndex(), addIndex(), addIndex()]);
  expect(await isValid(await connect())).toBe(true);
});

test('an invalid index of an interrupted attempt is replaced', async () => {
  const sql = await connect();
  await sql.query("INSERT INTO things VALUES ('same'), ('same')");
  const unique = 'CREATE UNIQUE INDEX CONCURRENTLY things_name ON things (name)';
  await expect(sql.query(unique)).rejects.toMatchObject({ code: '23505' });
  expect(await isValid(sql)).toBe(false);
  await addIndex();
  expect(await isValid(sql)).toBe(true);
});

test('a whole index of an attempt that ended before it was recorded is kept', async () => {
  const sql = await connect();
  await sql.query('CREATE INDEX things_name ON things (name)');
  const find = async () => (await sql.query("SELECT 'things_name'::regclass::oid AS id")).rows;
  const before = await find();
  await addIndex();
  expect(await find()).toEqual(before);
  expect((await sql.query('SELECT name FROM migrations')).rows).toHaveLength(2);
});
