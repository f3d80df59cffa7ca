/** What queries run on: a pool, the pool of one scope, or a connection inside a transaction. */
import type pg from 'pg';
import { ScopedPool } from '../row-security/scoped-pool.ts';
import { withConnection } from './with-connection.ts';

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
