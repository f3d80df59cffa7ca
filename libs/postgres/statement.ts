/** Named SQL statements: each connection parses and plans a statement once. */
import type pg from 'pg';
import { VALUE_TYPES } from './value-types.ts';
import { withConnection } from './with-connection.ts';

/** A pool, or a connection inside a transaction. */
export type Queryable = pg.Pool | pg.PoolClient | pg.Client;

export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  /** Resolves to the rows, with the types of VALUE_TYPES. Rejects with the error of the database. */
  run(db: Queryable, values?: readonly unknown[]): Promise<Row[]>;
  /** Returns the statement with its values, to run it together with other queries. */
  query(values?: readonly unknown[]): Query<Row[]>;
}

/** A statement with its values, and the function that makes the result of its rows. */
export interface Query<Result> {
  readonly config: Required<pg.QueryConfig>;
  toResult(rows: unknown[]): Result;
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
export async function runQuery<Result>(
  db: Queryable,
  { config, toResult }: Query<Result>,
): Promise<Result> {
  const { rows } = await useConnection(db, (client) => client.query(config));
  return toResult(rows);
}

/** Runs `work` on the connection, or on a connection of the pool. */
export function useConnection<T>(
  db: Queryable,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  return isPool(db) ? withConnection(db, work) : work(db);
}

function isPool(db: Queryable): db is pg.Pool {
  return 'totalCount' in db;
}
