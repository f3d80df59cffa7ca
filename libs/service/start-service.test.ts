import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { requestRoleOf } from '@creditlane/postgres/row-security/request-role';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import { asAdmin, createTestDatabase } from '@creditlane/postgres/test-database';
import type { Call } from '@creditlane/rpc/call';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { readSettings } from '@creditlane/runtime/setting';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { WithDatabase } from './define-service.ts';
import { localSettings } from './settings.ts';
import { openServiceDatabase, startService } from './start-service.ts';

const THINGS = {
  name: 'things',
  about: 'Things.',
  serves: 'calls',
  database: {
    name: 'things',
    entities: [],
    migrations: [sqlMigration('Things1763000000000', { up: ['CREATE TABLE things (id int)'] })],
  },
  settings: {},
} as const;

/** A file for the test, which a process has noticed to have another text when `give` returns. */
function secretFile(text: string) {
  const path = join(mkdtempSync(join(tmpdir(), 'creditlane-')), 'secret');
  onTestFinished(() => rmSync(dirname(path), { recursive: true }));
  let elapsedMs = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + elapsedMs);
  onTestFinished(() => void vi.restoreAllMocks());
  const give = (next: string) => {
    writeFileSync(path, next);
    // The file is read at most every five seconds.
    elapsedMs += 5_000;
  };
  give(text);
  return { path, give };
}

test('with MIGRATE_AT_START=false, a service waits until its database is migrated', async () => {
  const { url, sql, drop } = await createTestDatabase('migrated_apart');
  const life = createTestProcess('things');
  onTestFinished(async () => {
    await life.closers.close();
    await drop();
  });
  const open = (env: Record<string, string>) => {
    const { database } = readSettings({ DATABASE_URL: url, ...env }, localSettings(THINGS));
    if (database === undefined) throw new Error('the service has a database');
    return openServiceDatabase(THINGS, database, life);
  };
  const waiting = open({ MIGRATE_AT_START: 'false' });
  const find = async () => {
    const { rows } = await sql.query(
      `SELECT FROM pg_stat_activity
       WHERE application_name = 'creditlane migrations' AND datname = current_database()`,
    );
    return rows.length;
  };
  await expect.poll(find).toBe(1);
  const { rows } = await sql.query("SELECT to_regclass('things') AS things");
  expect(rows).toEqual([{ things: null }]);
  await open({});
  const database = await waiting;
  expect((await database.pool.query('SELECT FROM things')).rows).toEqual([]);
});

test('a call whose statement runs out of time is answered as unavailable, whatever its handler does', async () => {
  const { url, drop } = await createTestDatabase('failing_calls');
  const life = createTestProcess('things');
  onTestFinished(async () => {
    await life.closers.close();
    await drop();
  });
  const service = {
    ...THINGS,
    start: async ({ database }: WithDatabase) => {
      const handler = () =>
        database.pool.query("SET statement_timeout = '1 ms'; SELECT pg_sleep(10)");
      const routes = [{ service: {}, routes: [{ method: {}, handler }] }] as unknown;
      return { routes: routes as ServiceRoutes[], settled: async () => {} };
    },
  };
  const values = readSettings({ DATABASE_URL: url }, localSettings(service));
  const { routes, settled } = await startService(service, values, { process: life });
  expect(settled).toBeTypeOf('function');
  const answer = routes[0]?.routes[0]?.handler(undefined as never, {} as Call);
  await expect(answer).rejects.toMatchObject({ kind: 'unavailable' });
});

test('DATABASE_PASSWORD is the password of a DATABASE_URL that has none', () => {
  const read = (env: Record<string, string>) =>
    readSettings(env, localSettings(THINGS)).database?.url();
  const url = 'postgres://things@db:5432/things?sslmode=verify-full';
  expect(read({ DATABASE_URL: url })).toBe(url);
  const { password, search } = new URL(
    read({ DATABASE_URL: url, DATABASE_PASSWORD: 'p%40:/ %' }) ?? '',
  );
  expect([decodeURIComponent(password), search]).toEqual(['p%40:/ %', '?sslmode=verify-full']);
  expect(() => read({ DATABASE_PASSWORD: 'p' })).toThrow('DATABASE_URL: missing');
});

test('new connections use the login that DATABASE_URL_FILE holds then: a second role, which acts as the owner', async () => {
  const { url, drop } = await createTestDatabase('second_login');
  const owner = new URL(url).username;
  const second = new URL(url);
  second.username = `${owner}_b`;
  await asAdmin([
    `CREATE ROLE ${owner}_b LOGIN PASSWORD '${second.password}' IN ROLE ${owner}`,
    `ALTER ROLE ${owner}_b SET role = '${owner}'`,
  ]);
  const life = createTestProcess('things');
  onTestFinished(async () => {
    await life.closers.close();
    await asAdmin([`DROP ROLE ${owner}_b`]);
    await drop();
  });
  const { path, give } = secretFile(url);
  const { database } = readSettings({ DATABASE_URL_FILE: path }, localSettings(THINGS));
  if (database === undefined) throw new Error('the service has a database');
  const { pool } = await openServiceDatabase(THINGS, database, life);
  const first = await pool.connect();
  give(second.href);
  await asAdmin([`ALTER ROLE ${owner} PASSWORD 'another'`]);
  const next = await pool.connect();
  const whoami = 'SELECT session_user::text AS login, current_user::text AS acting';
  expect((await first.query(whoami)).rows).toEqual([{ login: owner, acting: owner }]);
  expect((await next.query(whoami)).rows).toEqual([{ login: `${owner}_b`, acting: owner }]);
  await next.query('BEGIN');
  await next.query(`SET LOCAL ROLE ${requestRoleOf(owner)}`);
  await next.query('ROLLBACK');
  await next.query('ALTER TABLE things ADD COLUMN name text');
  for (const connection of [first, next]) connection.release();
});

test('new connections use the password that DATABASE_PASSWORD_FILE holds then, and open ones stay', async () => {
  const { url, drop } = await createTestDatabase('renewed_password');
  const life = createTestProcess('things');
  onTestFinished(async () => {
    await life.closers.close();
    await drop();
  });
  const { password: right } = new URL(url);
  const withoutPassword = new URL(url);
  withoutPassword.password = '';
  const { path, give } = secretFile(decodeURIComponent(right));
  const env = { DATABASE_URL: withoutPassword.href, DATABASE_PASSWORD_FILE: path };
  const { database } = readSettings(env, localSettings(THINGS));
  if (database === undefined) throw new Error('the service has a database');
  const { pool } = await openServiceDatabase(THINGS, database, life);
  const connections = [await pool.connect()];
  give('replaced');
  const reachesServer = () =>
    pool.connect().then(
      (connection) => void connections.push(connection),
      ({ code }: { code: string }) => code,
    );
  expect(await reachesServer()).toBe('28P01');
  expect((await connections[0]?.query('SELECT 1 AS one'))?.rows).toEqual([{ one: 1 }]);
  give(decodeURIComponent(right));
  expect(await reachesServer()).toBeUndefined();
  for (const connection of connections) connection.release();
});
