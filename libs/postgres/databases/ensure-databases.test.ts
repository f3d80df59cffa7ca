import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, onTestFinished, test } from 'vitest';
import { requestRoleOf } from '../row-security/request-role.ts';
import { ACCESS_LOCK_ID, ensureDatabases } from './ensure-databases.ts';
import { keeperOf } from './kept-tables.ts';

const adminUrl = inject('postgresUrl');
const PASSWORD = 'a password';
const names = ['one', 'another'].map((it) => `${it}_${randomBytes(4).toString('hex')}`);
const [one = '', another = ''] = names;
const owned = names.map((name) => ({ name, password: PASSWORD }));
const maker = `maker_${randomBytes(4).toString('hex')}`;

let admin: pg.Client;
beforeEach(async () => {
  admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
});
afterEach(async () => {
  for (const name of names) {
    await admin.query(`DROP DATABASE IF EXISTS ${name}`);
    for (const role of [requestRoleOf(name), keeperOf(name), name])
      await admin.query(`DROP ROLE IF EXISTS ${role}`);
  }
  await ensureDatabases(adminUrl, []);
  await admin.end();
});

/**
 * Lets every role connect to template1, under the lock of `ensureDatabases`. Platforms of other test files start on this server
 * at any time, and close it again.
 */
async function openTemplate(): Promise<void> {
  await admin.query('SELECT pg_advisory_lock($1::bigint)', [ACCESS_LOCK_ID]);
  await admin.query('GRANT CONNECT ON DATABASE template1 TO PUBLIC');
  await admin.query('SELECT pg_advisory_unlock($1::bigint)', [ACCESS_LOCK_ID]);
}

function urlOf(role: string, database: string, password = PASSWORD): string {
  const url = new URL(adminUrl);
  url.username = role;
  url.password = encodeURIComponent(password);
  url.pathname = `/${database}`;
  return url.href;
}

/** `connected`, or the message with which PostgreSQL refuses the role. */
async function connectAs(role: string, database: string, password = PASSWORD): Promise<string> {
  const client = new pg.Client({ connectionString: urlOf(role, database, password) });
  try {
    await client.connect();
    await client.end();
    return 'connected';
  } catch (error) {
    return (error as Error).message;
  }
}

test('a role connects to its own database, and to no other of the server', async () => {
  await ensureDatabases(adminUrl, owned);
  expect(await connectAs(one, one)).toBe('connected');
  for (const database of [another, 'postgres', 'template1']) {
    expect(await connectAs(one, database)).toMatch(/permission denied for database/);
  }
});

test('a server that an earlier version left open to its roles is closed by the next start', async () => {
  await ensureDatabases(adminUrl, owned);
  const connectToTemplate = async () => {
    await openTemplate();
    return connectAs(one, 'template1');
  };
  await expect.poll(connectToTemplate).toBe('connected');
  await ensureDatabases(adminUrl, owned);
  expect(await connectAs(one, 'template1')).toMatch(/permission denied for database/);
});

test('several platforms that start at once on one server disturb none', async () => {
  await openTemplate();
  await Promise.all(Array.from({ length: 5 }, () => ensureDatabases(adminUrl, owned)));
  expect(await connectAs(another, 'template1')).toMatch(/permission denied for database/);
});

test('a role that exists keeps the password and the login that it has been given since', async () => {
  await ensureDatabases(adminUrl, owned);
  await admin.query(`ALTER ROLE ${one} PASSWORD 'changed'`);
  await admin.query(`ALTER ROLE ${another} NOLOGIN`);
  await ensureDatabases(adminUrl, owned);
  expect(await connectAs(one, one)).toMatch(/password authentication failed/);
  expect(await connectAs(one, one, 'changed')).toBe('connected');
  expect(await connectAs(another, another)).toMatch(/not permitted to log in/);
});

test('where passwords are set, a role that exists gets its password and its login again', async () => {
  await ensureDatabases(adminUrl, owned, { setPasswords: true });
  await admin.query(`ALTER ROLE ${one} PASSWORD 'changed' NOLOGIN`);
  await ensureDatabases(adminUrl, owned, { setPasswords: true });
  expect(await connectAs(one, one)).toBe('connected');
});

test('a user who may create databases and roles, and is no superuser, makes them and closes them', async () => {
  await ensureDatabases(adminUrl, []);
  await admin.query(`CREATE ROLE ${maker} LOGIN CREATEDB CREATEROLE PASSWORD '${PASSWORD}'`);
  await admin.query(`GRANT CONNECT ON DATABASE postgres TO ${maker}`);
  onTestFinished(async () => {
    const client = new pg.Client({ connectionString: adminUrl });
    await client.connect();
    await client.query(`REVOKE CONNECT ON DATABASE postgres FROM ${maker}`);
    await client.query(`DROP ROLE ${maker}`);
    await client.end();
  });
  const makerUrl = urlOf(maker, 'postgres');
  for (const start of ['first', 'second']) {
    const findOpen = async () => {
      await openTemplate();
      return ensureDatabases(makerUrl, owned);
    };
    await expect.poll(findOpen, { message: start }).toEqual({
      openDatabases: ['template1'],
      withoutKeeper: [],
    });
  }
  expect(await connectAs(one, one)).toBe('connected');
  expect(await connectAs(one, another)).toMatch(/permission denied for database/);
  const { rows } = await admin.query(`SELECT pg_has_role($1, $2, 'SET') AS "maySet"`, [
    one,
    requestRoleOf(one),
  ]);
  expect(rows).toEqual([{ maySet: true }]);
  await admin.query(`GRANT CONNECT ON DATABASE ${another} TO PUBLIC`);
  await ensureDatabases(makerUrl, owned);
  expect(await connectAs(one, another)).toMatch(/permission denied for database/);
});
