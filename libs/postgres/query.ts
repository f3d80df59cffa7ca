/** Queries, and what they run on: a pool, the pool of one scope, or a connection inside a transaction. */
import type pg from 'pg';
import { withConnection } from './connection/with-connection.ts';
import type { RowTurns } from './row-turns.ts';

/** A statement with its values, and the function that makes the result of its rows. */
export interface Query<Result> {
  readonly config: {
    readonly name: string;
    readonly text: string;
    readonly values: unknown[];
    /** Parse the text of each column's value. */
    readonly types: pg.CustomTypesConfig;
  };
  toResult(rows: unknown[]): Result;
}

/**
 * The connections of a pool for the requests of one scope. Every transaction begins with `enterScope`, in the
 * same round trip as the query after it; the end of the transaction leaves the scope.
 */
export class ScopedPool {
  readonly #owner: pg.Pool;
  readonly #rowTurns: RowTurns;
  /** The row at whose lock each transaction takes a turn. */
  readonly #row: string | undefined;
  /** Changes to the request role and sets its scope, until the transaction ends. */
  readonly enterScope: Query<unknown>;

  constructor(owner: pg.Pool, rowTurns: RowTurns, enterScope: Query<unknown>, row?: string) {
    this.#owner = owner;
    this.#rowTurns = rowTurns;
    this.#row = row;
    this.enterScope = enterScope;
  }

  /**
   * For a transaction that may wait for the lock of `row`, any text that names the row: it gets its connection
   * when it is its turn (`RowTurns`). It must not take a second connection meanwhile.
   */
  onRow(row: string): ScopedPool {
    return new ScopedPool(this.#owner, this.#rowTurns, this.enterScope, row);
  }

  /** Runs `work` on a connection that has not entered the scope yet. */
  connect<T>(work: (client: pg.PoolClient, discard: () => void) => Promise<T>): Promise<T> {
    const run = () => withConnection(this.#owner, work);
    return this.#row === undefined ? run() : this.#rowTurns.run(this.#row, run);
  }
}

/** A pool, the pool of one scope, or a connection inside a transaction. */
export type Queryable = pg.Pool | ScopedPool | pg.PoolClient | pg.Client;

/** Runs `work` on the connection, or on a connection of the pool, which has not entered its scope yet. */
export function useConnection<T>(
  db: Queryable,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  if (db instanceof ScopedPool) return db.connect(work);
  return isPool(db) ? withConnection(db, work) : work(db);
}

function isPool(db: pg.Pool | pg.PoolClient | pg.Client): db is pg.Pool {
  return 'totalCount' in db;
}
