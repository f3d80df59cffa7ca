import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Column, listed, toLists } from './lists.ts';
import { statement } from './statement.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase('lists');
});
afterAll(() => db.drop());

const COLUMNS: readonly Column[] = [
  ['id', 'int'],
  ['name', 'text'],
  ['at', 'timestamptz'],
];
const select = statement(
  'listed',
  `SELECT id, name, at, $4::text AS other FROM ${listed(COLUMNS)} AS row ORDER BY place`,
);

test('rows come out of their lists in order, whatever they hold', async () => {
  const at = new Date(0);
  const rows = [
    [3, 'a "quoted", {braced} one', at],
    [1, null, null],
    [2, '', at],
  ];
  expect(await select.run(db.sql, [...toLists(rows, 3), 'x'])).toEqual(
    rows.map(([id, name, at]) => ({ id, name, at, other: 'x' })),
  );
});

test('no rows come out of empty lists', async () => {
  expect(await select.run(db.sql, [...toLists([], 3), 'x'])).toEqual([]);
});
