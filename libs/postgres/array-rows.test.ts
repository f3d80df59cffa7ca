import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Column, defineArrayStatement } from './array-rows.ts';
import { runQuery } from './statement.ts';
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
const select = defineArrayStatement(
  'listed',
  (listed) =>
    `SELECT id, name, at, $1::text AS other FROM ${listed(COLUMNS, 2)} AS row ORDER BY place`,
);

test.each([0, 1, 4, 128, 129, 1_000])(
  '%i rows of arrays keep their order and values',
  async (count) => {
    const at = new Date(0);
    const kinds = [
      [3, 'a "quoted", {braced} one', at],
      [1, null, null],
      [2, '', at],
      [-1, 'NULL', null],
    ];
    const rows = Array.from({ length: count }, (_, n) => kinds[n % kinds.length] ?? []);
    const query = select(count, ['x', ...COLUMNS.map((_, n) => rows.map((row) => row[n]))]);
    expect(await runQuery(db.sql, query)).toEqual(
      rows.map(([id, name, at]) => ({ id, name, at, other: 'x' })),
    );
  },
);
