import { randomUUID } from 'node:crypto';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { openDatabase } from '../database.ts';
import { runPipeline } from '../pipeline/pipeline.ts';
import { RowTurns } from '../row-turns.ts';
import { defineStatement } from '../statement.ts';
import { createTestDatabase, type TestDatabase } from '../test-database.ts';
import { inTransaction } from '../transaction.ts';
import { enableRowSecuritySql, isInScopeSql } from './policies.ts';
import { RequestPool } from './request-pool.ts';
import { RequestRoleError } from './request-role.ts';

const read = defineStatement<{ text: string }>('note_read', 'SELECT text FROM notes ORDER BY text');
const insert = defineStatement('note_insert', 'INSERT INTO notes VALUES ($1, $2)');
const selectUser = defineStatement<{ name: string }>('user_name', 'SELECT current_user AS name');
const [maple, birch] = [randomUUID(), randomUUID()];
const ofMaple = { creditors: [maple] };

let db: TestDatabase;
/** Of one connection, so that the queries of a scope follow those of others on the same connection. */
let pool: pg.Pool;
let requests: RequestPool;
beforeAll(async () => {
  db = await createTestDatabase('request_pool');
  pool = db.connect({ max: 1 });
  const rowTurns = new RowTurns({ connections: 1, waitMs: 10_000 });
  requests = new RequestPool(pool, db.requestRole, rowTurns);
  await db.sql.query('CREATE TABLE notes (creditor_id uuid, text text)');
  const rows = isInScopeSql('creditor_id', 'creditors');
  for (const statement of enableRowSecuritySql('notes', { rows, privileges: 'SELECT, INSERT' })) {
    await db.sql.query(statement);
  }
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.sql.query('TRUNCATE notes');
  await insert.run(db.sql, [maple, 'Maple']);
  await insert.run(db.sql, [birch, 'Birch']);
});

const textsIn = async (scope: Parameters<RequestPool['within']>[0]) =>
  (await read.run(requests.within(scope))).map(({ text }) => text);

test('a request reads the rows of its scope only, whatever the connection was used for before', async () => {
  expect(await textsIn(ofMaple)).toEqual(['Maple']);
  expect(await textsIn({ creditors: [maple, birch] })).toEqual(['Birch', 'Maple']);
  expect(await textsIn({ creditors: [birch.toUpperCase()] })).toEqual(['Birch']);
  expect(await textsIn({})).toEqual([]);
  expect(await textsIn({ retailers: [maple], callers: [maple] })).toEqual([]);
  // The service's own work on the same connection acts as the owner again.
  expect((await read.run(pool)).map(({ text }) => text)).toEqual(['Birch', 'Maple']);
});

test('a request writes no row outside its scope, and none at all without a scope', async () => {
  const refused = { code: '42501', message: expect.stringContaining('row-level security') };
  await insert.run(requests.within(ofMaple), [maple, 'own']);
  for (const scope of [ofMaple, {}]) {
    const write = insert.run(requests.within(scope), [birch, 'foreign']);
    await expect(write).rejects.toMatchObject(refused);
  }
  expect(await textsIn({ creditors: [maple, birch] })).toEqual(['Birch', 'Maple', 'own']);
});

test('every query of a pipeline and of a transaction is in the scope, which ends with it', async () => {
  const scoped = requests.within(ofMaple);
  const own = [{ text: 'Maple' }];
  expect(await runPipeline(scoped, [undefined, read.query(), read.query()])).toEqual([
    undefined,
    own,
    own,
  ]);
  const names = await inTransaction(scoped, async (tx) => {
    expect(await read.run(tx)).toEqual(own);
    return selectUser.run(tx);
  });
  expect(names).toEqual([{ name: db.requestRole }]);
  const failure = new Error('of the work');
  await expect(
    inTransaction(scoped, async () => {
      throw failure;
    }),
  ).rejects.toBe(failure);
  expect(await selectUser.run(pool)).not.toEqual(names);
});

test('the request role owns nothing, cannot log in and is not exempt from row security', async () => {
  const { rows } = await db.sql.query(
    `SELECT rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication,
       EXISTS (SELECT FROM pg_class WHERE relowner = pg_roles.oid) AS owns,
       EXISTS (SELECT FROM pg_auth_members WHERE member = pg_roles.oid) AS is_member
     FROM pg_roles WHERE rolname = $1`,
    [db.requestRole],
  );
  expect(new Set(Object.values(rows[0]))).toEqual(new Set([false]));
  const filtered = inTransaction(requests.within(ofMaple), async (tx) => {
    // With this setting, PostgreSQL refuses a query that row security would filter.
    await tx.query('SET LOCAL row_security = off');
    await tx.query('SELECT FROM notes');
  });
  await expect(filtered).rejects.toMatchObject({ code: '42501' });
  for (const statement of ['ALTER TABLE notes DISABLE ROW LEVEL SECURITY', 'TRUNCATE notes']) {
    const { config } = defineStatement('', statement).query();
    const run = inTransaction(requests.within(ofMaple), (tx) => tx.query(config));
    await expect(run).rejects.toMatchObject({ code: '42501' });
  }
});

test('a parameter that holds SQL stays a value, and a statement with a second command is refused', async () => {
  const injected = "Maple'; RESET ROLE; SELECT text FROM notes --";
  await insert.run(requests.within(ofMaple), [maple, injected]);
  expect(await textsIn(ofMaple)).toEqual(['Maple', injected]);
  await expect(textsIn({ creditors: [`${maple},${birch}`] })).rejects.toMatchObject({
    code: '22P02',
  });
  expect(() => requests.within({ callers: ['a\nb'] })).toThrow('line break');
  const two = defineStatement('two_commands', 'RESET ROLE; SELECT text FROM notes');
  await expect(two.run(requests.within(ofMaple))).rejects.toMatchObject({ code: '42601' });
});

test('a service refuses to start without a usable request role, and says what its administrator runs', async () => {
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  const made = await createTestDatabase('without_role');
  const { requestRole, url } = made;
  const owner = new URL(url).username;
  const options = { url, poolSize: 2, name: 'test', log: silentLog, metrics: new Metrics() };
  const open = async () =>
    (await openDatabase({ ...options, entities: [], migrations: [] })).close();
  const refusal = async () => {
    const error = await open().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RequestRoleError);
    return /: ([^:]*);$/.exec((error as Error).message)?.[1] ?? '';
  };
  try {
    await admin.query(`ALTER ROLE ${requestRole} BYPASSRLS`);
    await admin.query(await refusal());
    await admin.query(`REVOKE ${requestRole} FROM ${owner}`);
    expect(await refusal()).toBe(`GRANT "${requestRole}" TO "${owner}"`);
    await admin.query(`DROP ROLE ${requestRole}`);
    await admin.query(await refusal());
    await open();
  } finally {
    await admin.end();
    await made.drop();
  }
});
