import { silentLog } from '@creditlane/runtime/test-log';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate } from './migrate.ts';
import { concurrentIndexMigration, sqlMigration } from './sql-migration.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

const TABLE = sqlMigration('Things1763000000000', ['CREATE TABLE things (name text)'], []);
const INDEX = concurrentIndexMigration('ThingsName1763000000001', 'things_name', 'things (name)');

let home: TestDatabase;
let clients: pg.Client[];
beforeEach(async () => {
  home = await createTestDatabase('concurrent_index');
  clients = [];
  await migrate(home.url, [TABLE], silentLog);
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await home.drop();
});

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

test('an index is created while the table is written, without a wait of the writers', async () => {
  const [slow, writer] = [await connect(), await connect()];
  await slow.query('BEGIN');
  await slow.query("INSERT INTO things VALUES ('slow')");
  const added = addIndex();
  // The index waits for the transactions that write already, for 2 s in each attempt.
  await expect
    .poll(
      async () => {
        const { rows } = await writer.query(
          `SELECT query FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rows.length;
      },
      { timeout: 10_000 },
    )
    .toBe(1);
  await writer.query("SET lock_timeout = '50ms'");
  await writer.query("INSERT INTO things VALUES ('new')");
  await slow.query('COMMIT');
  await added;
  expect(await isValid(writer)).toBe(true);
}, 20_000);

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
