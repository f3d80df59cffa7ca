/** Runs work on a connection of a pool. */
import type pg from 'pg';
import { isDatabaseUnavailable } from '../error-classes.ts';

/**
 * Runs `work` on a connection and returns the connection to the pool afterwards. The connection is
 * closed instead when the database became unavailable or `work` called `discard`. A refused statement,
 * such as a violated unique constraint, does not close it (with `pool.query` it would, and each new
 * connection costs the server a fork).
 */
export async function withConnection<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient, discard: () => void) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let isBroken = false;
  const discard = () => {
    isBroken = true;
  };
  // Without a listener, a connection lost between two statements would end the process.
  client.on('error', discard);
  try {
    return await work(client, discard);
  } catch (error) {
    if (isDatabaseUnavailable(error)) discard();
    throw error;
  } finally {
    client.off('error', discard);
    client.release(isBroken);
  }
}
