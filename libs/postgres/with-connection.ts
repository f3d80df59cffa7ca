/** Lends a pool's connection for one piece of work. */
import type pg from 'pg';
import { isDatabaseUnavailable } from './error-classes.ts';

/**
 * Runs `work` on a connection of its own and gives it back afterwards, or throws it away when it is
 * spoilt: by an outage, or because `work` called `discard`. An ordinary refusal, such as a broken
 * unique rule, leaves it well (`pool.query` would close it, and a new one costs the server a fork).
 */
export async function withConnection<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient, discard: () => void) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let spoilt = false;
  const discard = () => {
    spoilt = true;
  };
  // Without a listener a connection that dies between two statements would end the process.
  client.on('error', discard);
  try {
    return await work(client, discard);
  } catch (error) {
    if (isDatabaseUnavailable(error)) discard();
    throw error;
  } finally {
    client.off('error', discard);
    client.release(spoilt);
  }
}
