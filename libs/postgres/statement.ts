/** SQL as values: each statement is named, so a connection parses and plans it once. */
import type pg from 'pg';
import { VALUE_TYPES } from './value-types.ts';
import { withConnection } from './with-connection.ts';

/** A pool, or a connection inside a transaction. */
export type Queryable = pg.Pool | pg.PoolClient | pg.Client;

export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  /** The rows of the answer, with the types of VALUE_TYPES. Rejects with what the database said. */
  run(db: Queryable, values?: readonly unknown[]): Promise<Row[]>;
  /** The statement with its values, to be run with others. */
  query(values?: readonly unknown[]): Query<Row[]>;
}

/** A statement with its values, and what the rows it gives mean. */
export interface Query<Answer> {
  readonly config: Required<pg.QueryConfig>;
  answer(rows: unknown[]): Answer;
}

/** A statement to be prepared under `name`, which must be its own in the whole service. */
export function defineStatement<Row = Record<string, never>>(
  name: string,
  text: string,
): Statement<Row> {
  const query = (values: readonly unknown[] = []): Query<Row[]> => ({
    config: { name, text, values: [...values], types: VALUE_TYPES },
    answer: (rows) => rows as Row[],
  });
  return { name, text, query, run: (db, values) => runQuery(db, query(values)) };
}

/** The same query, whose answer is what `read` makes of it. */
export function mapQueryResult<Answer, Read>(
  { config, answer }: Query<Answer>,
  read: (answer: Answer) => Read,
): Query<Read> {
  return { config, answer: (rows) => read(answer(rows)) };
}

/** Runs one query by itself. Rejects with what the database said. */
export async function runQuery<Answer>(
  db: Queryable,
  { config, answer }: Query<Answer>,
): Promise<Answer> {
  const result = await useConnection(db, (client) => client.query(config));
  return answer(result.rows);
}

/** Does the work on the connection, or on one that the pool lends. */
export function useConnection<T>(
  db: Queryable,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  return isPool(db) ? withConnection(db, work) : work(db);
}

function isPool(db: Queryable): db is pg.Pool {
  return 'totalCount' in db;
}
