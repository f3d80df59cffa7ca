/** Work that happens whole or not at all. */
import type pg from 'pg';
import { borrow } from './borrow.ts';
import { isOutage } from './outage.ts';

/**
 * Runs `work` in one transaction and resolves to what it gives. Rolled back when it rejects, with
 * its own error. When the answer to the commit is lost, nobody knows the outcome: the error is an
 * outage (`isOutage`), and only work that can tell that it was done may be repeated.
 */
export function inTransaction<T>(
  pool: pg.Pool,
  work: (tx: pg.PoolClient) => Promise<T>,
): Promise<T> {
  return borrow(pool, async (tx, spoil) => {
    await tx.query('BEGIN');
    try {
      const result = await work(tx);
      await tx.query('COMMIT');
      return result;
    } catch (error) {
      // An outage ends the session, and the transaction with it. Else the work's error is the one to
      // report, and a connection that cannot even roll back is done for.
      if (!isOutage(error)) await tx.query('ROLLBACK').catch(spoil);
      throw error;
    }
  });
}
