/**
 * Statements about many rows: each column is one array parameter. Such a statement exists in two forms
 * (see `fewRowsFromArrays`), so its text is composed from a part that differs between them.
 */
import { defineStatement, type Query, type Statement } from './statement.ts';

/** A column's name and SQL type. */
export type Column = readonly [name: string, type: string];

/**
 * SQL for the rows of array parameters of one length; the first array is the parameter `$first`. The
 * column `place`, counted from one, keeps the order of the rows.
 */
export type RowsFromArrays = (columns: readonly Column[], first?: number) => string;

/** For more rows than this, unnesting all arrays costs less. */
export const FEW_ROWS = 128;

/**
 * Unnests the first array and subscripts the others. PostgreSQL makes a table of each array that it
 * unnests; for a few rows of many columns, these tables cost several times as much as the rest of the
 * statement. For many rows the subscripts cost more: in an array of texts or with NULLs, each subscript
 * reads the array from its beginning.
 */
const fewRowsFromArrays: RowsFromArrays = (columns, first = 1) => {
  const [[key, keyType], ...others] = columns as readonly [Column, ...Column[]];
  const values = others.map(
    ([name, type], n) => `($${first + 1 + n}::${type}[])[place] AS ${name}`,
  );
  return `(SELECT ${[key, 'place', ...values].join(', ')}
    FROM unnest($${first}::${keyType}[]) WITH ORDINALITY AS elements (${key}, place))`;
};

const manyRowsFromArrays: RowsFromArrays = (columns, first = 1) => {
  const arrays = columns.map(([, type], n) => `$${first + n}::${type}[]`).join(', ');
  const names = columns.map(([name]) => name).join(', ');
  return `(SELECT * FROM unnest(${arrays}) WITH ORDINALITY AS elements (${names}, place))`;
};

/** Returns the query for `rowCount` rows, whose columns are the arrays `values`. */
export type ArrayStatement<Row> = (rowCount: number, values: readonly unknown[]) => Query<Row[]>;

/** Defines a statement about FEW_ROWS rows at most. */
export function defineFewRowsStatement<Row>(
  name: string,
  text: (rowsFrom: RowsFromArrays) => string,
): Statement<Row> {
  return defineStatement<Row>(name, text(fewRowsFromArrays));
}

/** Defines a statement about any number of rows, which takes the cheaper form for each number. */
export function defineArrayStatement<Row = Record<string, never>>(
  name: string,
  text: (rowsFrom: RowsFromArrays) => string,
): ArrayStatement<Row> {
  const few = defineFewRowsStatement<Row>(name, text);
  const many = defineStatement<Row>(`${name}_many`, text(manyRowsFromArrays));
  return (rowCount, values) => (rowCount > FEW_ROWS ? many : few).query(values);
}
