/** Queries, and what they run on: a pool, the pool of one scope, or a connection inside a transaction. */
import type pg from 'pg';
import { withConnection } from './connection/with-connection.ts';

/** A statement with its values, and the function that makes the result of its rows. */
export interface Query<Result> {
  readonly config: Required<pg.QueryConfig>;
  toResult(rows: unknown[]): Result;
}

/**
 * The connections of a pool for the requests of one scope. Every transaction begins with `enterScope`, in the
 * same round trip as the query after it; the end of the transaction leaves the scope.
 */
export class ScopedPool {
  readonly #owner: pg.Pool;
  /** Changes to the request role and sets its scope, until the transaction ends. */
  readonly enterScope: Query<unknown>;

  constructor(owner: pg.Pool, enterScope: Query<unknown>) {
    this.#owner = owner;
    this.enterScope = enterScope;
  }

  /** Runs `work` on a connection that has not entered the scope yet. */
  connect<T>(work: (client: pg.PoolClient, discard: () => void) => Promise<T>): Promise<T> {
    return withConnection(this.#owner, work);
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
