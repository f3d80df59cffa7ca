/** Work that happens whole or not at all. */
import type pg from 'pg';
import { isDatabaseUnavailable } from './error-classes.ts';
import { type QueryResults, runPipeline } from './pipeline.ts';
import { defineStatement, type Query } from './statement.ts';
import { withConnection } from './with-connection.ts';

/**
 * Runs `work` in one transaction and resolves to what it gives. Rolled back when it rejects, with
 * its own error. When the answer to the commit is lost, nobody knows the outcome: the error is an
 * outage (`isDatabaseUnavailable`), and only work that can tell that it was done may be repeated.
 */
export function inTransaction<T>(
  pool: pg.Pool,
  work: (tx: pg.PoolClient) => Promise<T>,
): Promise<T> {
  return transaction(pool, async (tx) => {
    await begin.run(tx);
    const result = await work(tx);
    await commit.run(tx);
    return result;
  });
}

/** What a transaction that has read is to write, and what it gives then. */
export interface PlannedWrites<T> {
  writes: readonly (Query<unknown> | undefined)[];
  result: T;
}

/**
 * Runs a transaction of two round trips, for work that asks, decides, and then writes: `decide` gets
 * the answers of `reads`. Rolled back when it throws or anything is refused, with that error; of a
 * commit whose answer is lost the same holds as for `inTransaction`.
 */
export function runReadWriteTransaction<
  const Reads extends readonly (Query<unknown> | undefined)[],
  T,
>(
  pool: pg.Pool,
  reads: Reads,
  decide: (answers: QueryResults<Reads>) => PlannedWrites<T>,
): Promise<T> {
  return transaction(pool, async (tx) => {
    const [, ...answers] = await runPipeline(tx, [begin.query(), ...reads]);
    const { writes, result } = decide(answers as QueryResults<Reads>);
    await runPipeline(tx, [...writes, commit.query()]);
    return result;
  });
}

const begin = defineStatement('begin', 'BEGIN');
const commit = defineStatement('commit', 'COMMIT');

function transaction<T>(pool: pg.Pool, work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  return withConnection(pool, async (tx, discard) => {
    try {
      return await work(tx);
    } catch (error) {
      // An outage ends the session, and the transaction with it. Else the work's error is the one to
      // report, and a connection that cannot even roll back is done for.
      if (!isDatabaseUnavailable(error)) await tx.query('ROLLBACK').catch(discard);
      throw error;
    }
  });
}
