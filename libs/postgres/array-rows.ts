/** Rows that come to a statement as lists, a parameter for each column. */
import { defineStatement, type Query } from './statement.ts';

/** A column's name and SQL type. */
export type Column = readonly [name: string, type: string];

/**
 * SQL for the rows of lists of one length, the first of which is the parameter `$first`. With `place`,
 * counted from one, they can be kept in order.
 */
export type RowsFromArrays = (columns: readonly Column[], first?: number) => string;

/** Beyond so many rows it costs less to unnest their lists. */
const FEW = 128;

/**
 * One list is unnested and the others are looked into: PostgreSQL makes a table of each list that it
 * unnests, which for many columns costs several times what a statement about a few rows does. But a
 * look into a list of texts, or with NULLs, walks it from its beginning.
 */
const fewRowsFromArrays: RowsFromArrays = (columns, first = 1) => {
  const [[key, keyType], ...others] = columns as readonly [Column, ...Column[]];
  const values = others.map(
    ([name, type], n) => `($${first + 1 + n}::${type}[])[place] AS ${name}`,
  );
  return `(SELECT ${[key, 'place', ...values].join(', ')}
    FROM unnest($${first}::${keyType}[]) WITH ORDINALITY AS list (${key}, place))`;
};

const manyRowsFromArrays: RowsFromArrays = (columns, first = 1) => {
  const lists = columns.map(([, type], n) => `$${first + n}::${type}[]`).join(', ');
  const names = columns.map(([name]) => name).join(', ');
  return `(SELECT * FROM unnest(${lists}) WITH ORDINALITY AS list (${names}, place))`;
};

/** The query of a statement about so many rows. */
export type ArrayStatement<Row> = (rowCount: number, values: readonly unknown[]) => Query<Row[]>;

/** A statement whose lists may be of any length, in the form that suits it. */
export function defineArrayStatement<Row = Record<string, never>>(
  name: string,
  text: (listed: RowsFromArrays) => string,
): ArrayStatement<Row> {
  const few = defineStatement<Row>(name, text(fewRowsFromArrays));
  const many = defineStatement<Row>(`${name}_many`, text(manyRowsFromArrays));
  return (rowCount, values) => (rowCount > FEW ? many : few).query(values);
}

/** The lists, one for each column, of rows that have their values in the order of the columns. */
export function toColumnArrays(
  rows: readonly (readonly unknown[])[],
  columnCount: number,
): unknown[][] {
  return Array.from({ length: columnCount }, (_, column) => {
    return rows.map((values) => values[column] ?? null);
  });
}
