/** SQL as values: each statement is named, so a connection parses and plans it once. */
import type pg from 'pg';
import { borrow } from './borrow.ts';
import { VALUE_TYPES } from './value-types.ts';

/** A pool, or a connection inside a transaction. */
export type Queryable = pg.Pool | pg.PoolClient | pg.Client;

export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  /** The rows of the answer, with the types of VALUE_TYPES. Rejects with what the database said. */
  run(db: Queryable, values?: readonly unknown[]): Promise<Row[]>;
}

/** A statement to be prepared under `name`, which must be its own in the whole service. */
export function statement<Row = Record<string, never>>(name: string, text: string): Statement<Row> {
  return {
    name,
    text,
    async run(db, values = []) {
      const query = { name, text, values: [...values], types: VALUE_TYPES };
      const result = isPool(db)
        ? await borrow(db, (client) => client.query(query))
        : await db.query(query);
      return result.rows as Row[];
    },
  };
}

function isPool(db: Queryable): db is pg.Pool {
  return 'totalCount' in db;
}
