import type pg from 'pg';
import { expect } from 'vitest';

/** The modes of the locks on the table $1 that statements wait for; those of the server's other databases do not count. */
export const AWAITED_LOCKS_SQL = `SELECT mode FROM pg_locks WHERE NOT granted AND relation = $1::regclass
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** Resolves once so many connections to the database wait for a lock. */
export async function untilWaiting(db: pg.Pool | pg.Client, count: number): Promise<void> {
  const waiting = async () => {
    const { rows } = await db.query(
      `SELECT count(DISTINCT pid)::int FROM pg_locks JOIN pg_stat_activity AS other USING (pid)
       WHERE NOT granted AND other.datname = current_database()`,
    );
    return rows[0].count;
  };
  await expect.poll(waiting, { timeout: 15_000, interval: 10 }).toBe(count);
}
