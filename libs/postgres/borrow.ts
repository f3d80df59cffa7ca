/** Lends a pool's connection for one piece of work. */
import type pg from 'pg';
import { isOutage } from './outage.ts';

/**
 * Runs `work` on a connection of its own and gives it back afterwards, or throws it away when it is
 * spoilt: by an outage, or because `work` called `spoil`. An ordinary refusal, such as a broken
 * unique rule, leaves it well (`pool.query` would close it, and a new one costs the server a fork).
 */
export async function borrow<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient, spoil: () => void) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let spoilt = false;
  const spoil = () => {
    spoilt = true;
  };
  // Without a listener a connection that dies between two statements would end the process.
  client.on('error', spoil);
  try {
    return await work(client, spoil);
  } catch (error) {
    if (isOutage(error)) spoil();
    throw error;
  } finally {
    client.off('error', spoil);
    client.release(spoilt);
  }
}
