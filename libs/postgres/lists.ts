/** Rows that come to a statement as lists, a parameter for each column. */

/** A column's name and SQL type. */
export type Column = readonly [name: string, type: string];

/**
 * SQL for the rows of lists of one length, the first of which is the parameter `$first`. With `place`,
 * counted from one, they can be kept in order.
 *
 * One list is unnested and the others are looked into: PostgreSQL makes a table of each list that it
 * unnests, which for many columns costs several times what a statement about a few rows does.
 */
export function listed(columns: readonly Column[], first = 1): string {
  const [[key, keyType], ...others] = columns as readonly [Column, ...Column[]];
  const values = others.map(
    ([name, type], n) => `($${first + 1 + n}::${type}[])[place] AS ${name}`,
  );
  return `(SELECT ${[key, 'place', ...values].join(', ')}
    FROM unnest($${first}::${keyType}[]) WITH ORDINALITY AS list (${key}, place))`;
}

/** The lists, one for each column, of rows that have their values in the order of the columns. */
export function toLists(rows: readonly (readonly unknown[])[], columnCount: number): unknown[][] {
  return Array.from({ length: columnCount }, (_, column) => {
    return rows.map((values) => values[column] ?? null);
  });
}
