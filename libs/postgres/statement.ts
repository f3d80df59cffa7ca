/** Named SQL statements: each connection parses and plans a statement once. */

import type { Queryable } from './connection/queryable.ts';
import { VALUE_TYPES } from './connection/value-types.ts';
import { runPipeline } from './pipeline/pipeline.ts';
import type { Query } from './pipeline/prepared-query.ts';

export type { Query, Queryable };

export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  /** Resolves to the rows, with the types of VALUE_TYPES. Rejects with the error of the database. */
  run(db: Queryable, values?: readonly unknown[]): Promise<Row[]>;
  /** Returns the statement with its values, to run it together with other queries. */
  query(values?: readonly unknown[]): Query<Row[]>;
}

/** Defines a statement that is prepared under `name`, which must be unique in the service. */
export function defineStatement<Row = Record<string, never>>(
  name: string,
  text: string,
): Statement<Row> {
  const query = (values: readonly unknown[] = []): Query<Row[]> => ({
    config: { name, text, values: [...values], types: VALUE_TYPES },
    toResult: (rows) => rows as Row[],
  });
  return { name, text, query, run: (db, values) => runQuery(db, query(values)) };
}

/** Returns the same query with its result mapped by `map`. */
export function mapQueryResult<Result, Mapped>(
  { config, toResult }: Query<Result>,
  map: (result: Result) => Mapped,
): Query<Mapped> {
  return { config, toResult: (rows) => map(toResult(rows)) };
}

/** Runs one query. Rejects with the error of the database. */
export async function runQuery<Result>(db: Queryable, query: Query<Result>): Promise<Result> {
  const [result] = await runPipeline(db, [query]);
  return result;
}
