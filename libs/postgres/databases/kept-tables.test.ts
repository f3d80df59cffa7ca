import { randomBytes, randomUUID } from 'node:crypto';
import { silentLog } from '@creditlane/runtime/test-log';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, inject, onTestFinished, test } from 'vitest';
import { enableRowSecuritySql, isInScopeSql } from '../row-security/policies.ts';
import { requestRoleOf } from '../row-security/request-role.ts';
import { ensureDatabases } from './ensure-databases.ts';
import { handOverTables, keeperOf } from './kept-tables.ts';

const adminUrl = inject('postgresUrl');
const name = `kept_${randomBytes(4).toString('hex')}`;
const PASSWORD = 'a password';

const urlAs = (user: string, password: string) => {
  const url = new URL(adminUrl);
  if (user !== '') Object.assign(url, { username: user, password: encodeURIComponent(password) });
  url.pathname = `/${name}`;
  return url.href;
};
const url = urlAs(name, PASSWORD);
const LOG = 'audit_log';
const TABLES = [LOG, 'plain_log'];

let service: pg.Client;
let admin: pg.Client;
beforeAll(async () => {
  await ensureDatabases(adminUrl, [{ name, password: PASSWORD }]);
  service = new pg.Client({ connectionString: url });
  admin = new pg.Client({ connectionString: urlAs('', '') });
  await service.connect();
  await admin.connect();
  await admin.query(`SET statement_timeout = '10s'`);
});
afterAll(async () => {
  await service.end();
  await admin.end();
  const server = new pg.Client({ connectionString: adminUrl });
  await server.connect();
  await server.query(`DROP DATABASE ${name} WITH (FORCE)`);
  for (const role of [requestRoleOf(name), keeperOf(name), name]) {
    await server.query(`DROP ROLE ${role}`);
  }
  await server.end();
});

/** Tables of the service with a record each, one of them under row security and with a trigger. */
beforeEach(async () => {
  await admin.query(`DROP TABLE IF EXISTS ${TABLES.join(', ')}`);
  await admin.query('DROP FUNCTION IF EXISTS refuse()');
  for (const table of TABLES) {
    await service.query(`CREATE TABLE ${table} (retailer_id uuid NOT NULL, text text)`);
    await service.query(`INSERT INTO ${table} VALUES ($1, 'first')`, [randomUUID()]);
    await service.query(`REVOKE UPDATE, DELETE, TRUNCATE ON ${table} FROM CURRENT_USER`);
  }
  const secured = { rows: isInScopeSql('retailer_id', 'retailers'), privileges: 'INSERT' };
  await service.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'kept' USING ERRCODE = 'restrict_violation'; END $$`);
  await service.query(
    `CREATE TRIGGER kept BEFORE DELETE ON ${LOG} FOR EACH ROW EXECUTE FUNCTION refuse()`,
  );
  for (const statement of enableRowSecuritySql(LOG, secured)) await service.query(statement);
});

const handOver = () => handOverTables(url, TABLES, silentLog);
const ownerOf = async (table: string) =>
  (
    await admin.query('SELECT relowner::regrole::text AS owner FROM pg_class WHERE relname = $1', [
      table,
    ])
  ).rows[0].owner;

test('a service goes on to read and fill a table that it has handed over, once or again', async () => {
  for (const _ of ['first', 'second']) {
    await handOver();
    for (const table of TABLES) {
      expect(await ownerOf(table)).toBe(keeperOf(name));
      await service.query(`INSERT INTO ${table} VALUES ($1, 'next')`, [randomUUID()]);
    }
  }
  for (const table of TABLES) {
    expect((await service.query(`SELECT FROM ${table}`)).rowCount).toBe(3);
  }
  // The request role adds nothing without a scope.
  await service.query(`SET ROLE ${requestRoleOf(name)}`);
  onTestFinished(() => service.query('RESET ROLE').then(() => undefined));
  const insert = `INSERT INTO ${LOG} VALUES (gen_random_uuid(), 'x')`;
  await expect(service.query(insert)).rejects.toMatchObject({ code: '42501' });
});

test.each([
  `DELETE FROM ${LOG}`,
  `UPDATE ${LOG} SET text = 'forged'`,
  `TRUNCATE ${LOG}`,
  `DO $$ BEGIN GRANT DELETE ON ${LOG} TO CURRENT_USER; DELETE FROM ${LOG}; END $$`,
  `ALTER TABLE ${LOG} DISABLE TRIGGER USER`,
  `ALTER TABLE ${LOG} RENAME TO other`,
  `ALTER TABLE ${LOG} SET SCHEMA pg_temp`,
  `ALTER TABLE ${LOG} OWNER TO CURRENT_USER`,
  `DROP TABLE ${LOG}`,
  `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END'`,
  `DROP FUNCTION public.keep_table(text)`,
  `SET ROLE ${keeperOf(name)}`,
  `GRANT ${keeperOf(name)} TO CURRENT_USER`,
  'ALTER SCHEMA public OWNER TO CURRENT_USER',
  'ALTER SCHEMA public RENAME TO other',
  'DROP SCHEMA public CASCADE',
])('after the hand-over the service cannot %s', async (statement) => {
  await handOver();
  await service.query('BEGIN');
  onTestFinished(() => service.query('ROLLBACK').then(() => undefined));
  await expect(service.query(statement)).rejects.toMatchObject({ code: '42501' });
});

test('a table that a transaction uses is handed over when it ends', async () => {
  await service.query('BEGIN');
  await service.query(`INSERT INTO plain_log VALUES (gen_random_uuid(), 'next')`);
  const handedOver = handOver();
  await expect.poll(() => ownerOf(LOG)).toBe(keeperOf(name));
  expect(await ownerOf('plain_log')).toBe(name);
  await service.query('COMMIT');
  await handedOver;
  expect(await ownerOf('plain_log')).toBe(keeperOf(name));
});

test('in a database without a keeper the tables stay, with a warning', async () => {
  await admin.query('DROP FUNCTION public.keep_table(text)');
  const warnings: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => void warnings.push(fields) } as never;
  await handOverTables(url, TABLES, log);
  expect(warnings).toEqual([{ tables: TABLES }]);
  expect(await ownerOf(LOG)).toBe(name);
  await ensureDatabases(adminUrl, [{ name, password: PASSWORD }]);
  await handOver();
  expect(await ownerOf(LOG)).toBe(keeperOf(name));
});
