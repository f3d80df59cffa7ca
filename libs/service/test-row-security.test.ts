import { randomUUID } from 'node:crypto';
import { isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { createTestDatabase, type TestDatabase } from '@creditlane/postgres/test-database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findBreaches, listUnsecuredTables } from './test-row-security.ts';

const [maple, birch] = [randomUUID(), randomUUID()];
const tenants = { own: { creditors: [maple] }, foreign: { creditors: [birch] } };
const OWN_ROWS = isInScopeSql('creditor_id', 'creditors');

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('breaches');
});
afterAll(() => database?.drop());
beforeEach(async () => {
  const { sql } = database;
  await sql.query('DROP TABLE IF EXISTS notes');
  await sql.query(
    'CREATE TABLE notes (id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, creditor_id uuid)',
  );
  await sql.query('ALTER TABLE notes ENABLE ROW LEVEL SECURITY');
  await sql.query('INSERT INTO notes (creditor_id) VALUES ($1), ($2), ($2)', [maple, birch]);
});

const breachesWith = async (policy: string) => {
  await database.sql.query(`CREATE POLICY scope ON notes ${policy}`);
  return findBreaches(database, tenants);
};

test('a policy that shows and accepts the rows of the scope only has no breach', async () => {
  expect(await breachesWith(`USING (${OWN_ROWS})`)).toEqual([]);
});

test('a trigger that refuses every change of a row is no breach', async () => {
  const { sql } = database;
  await sql.query(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION USING ERRCODE = ''restrict_violation''; END'`);
  await sql.query(
    'CREATE TRIGGER kept BEFORE UPDATE OR DELETE ON notes FOR EACH ROW EXECUTE FUNCTION refuse()',
  );
  expect(await breachesWith(`USING (${OWN_ROWS})`)).toEqual([]);
});

test.each([
  ['shows every row', 'USING (true)', 'both tenants read the same row'],
  ['shows every row to nobody', `USING (${OWN_ROWS} OR creditor_id = '${birch}')`, 'reads rows'],
  ['accepts every row', `USING (${OWN_ROWS}) WITH CHECK (true)`, "the other tenant's row"],
  ['shows no row', 'USING (false)', 'a tenant has no row'],
])('a policy that %s is found', async (_, policy, finding) => {
  const found = await breachesWith(policy);
  expect(found).toContainEqual(expect.stringContaining(finding));
  expect(found.every((it) => it.startsWith('notes: '))).toBe(true);
});

test('a table without row security is listed, with what requests may do there', async () => {
  const { sql, requestRole } = database;
  await sql.query('ALTER TABLE notes DISABLE ROW LEVEL SECURITY');
  await sql.query(`GRANT SELECT, INSERT ON notes TO ${requestRole}`);
  expect(await listUnsecuredTables(database)).toEqual({ notes: ['INSERT', 'SELECT'] });
});
