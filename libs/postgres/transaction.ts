/** Runs work in a transaction, and rolls the transaction back when the work fails. */
import type pg from 'pg';
import { withConnection } from './connection/with-connection.ts';
import { isDatabaseUnavailable } from './error-classes.ts';
import { type QueryResults, runPipeline } from './pipeline/pipeline.ts';
import { ScopedPool } from './row-security/scoped-pool.ts';
import { defineStatement, type Query } from './statement.ts';

/**
 * Runs `work` in one transaction and resolves to its result. When `work` rejects, the transaction is
 * rolled back and the error is that of `work`; when `work` resolves although a statement was refused, it is a
 * `NotCommittedError`. When the connection is lost before the answer to the commit, the commit's outcome is unknown: the error
 * is `isDatabaseUnavailable`, and a caller may repeat only work that recognises its own repetition.
 */
export function inTransaction<T>(
  pool: pg.Pool | ScopedPool,
  work: (tx: pg.PoolClient) => Promise<T>,
): Promise<T> {
  return transaction(pool, async (tx) => {
    if (pool instanceof ScopedPool) await runPipeline(tx, [begin.query(), pool.enterScope]);
    else await begin.run(tx);
    const result = await work(tx);
    await commit.run(tx);
    return result;
  });
}

/** The queries that a transaction runs after its reads, and the result of the transaction. */
export interface PlannedWrites<T> {
  writes: readonly (Query<unknown> | undefined)[];
  result: T;
}

/**
 * Runs a transaction in two round trips: BEGIN and `reads`, then the writes that `planWrites` returns for
 * the results of the reads, and COMMIT. When `planWrites` throws or the database refuses a query, the
 * transaction is rolled back and rejects with that error. For a commit whose outcome is unknown see
 * `inTransaction`.
 */
export function runReadWriteTransaction<
  const Reads extends readonly (Query<unknown> | undefined)[],
  T,
>(
  pool: pg.Pool,
  reads: Reads,
  planWrites: (results: QueryResults<Reads>) => PlannedWrites<T>,
): Promise<T> {
  return transaction(pool, async (tx) => {
    const [, ...results] = await runPipeline(tx, [begin.query(), ...reads]);
    const { writes, result } = planWrites(results as QueryResults<Reads>);
    await runPipeline(tx, [...writes, commit.query()]);
    return result;
  });
}

const begin = defineStatement('begin', 'BEGIN');
const commit = defineStatement('commit', 'COMMIT');

function transaction<T>(
  pool: pg.Pool | ScopedPool,
  work: (tx: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const run = async (tx: pg.PoolClient, discard: () => void): Promise<T> => {
    try {
      return await work(tx);
    } catch (error) {
      // A lost connection has ended the transaction. After any other error the rollback may fail too:
      // then the connection is discarded, and the error to report is still that of the work.
      if (!isDatabaseUnavailable(error)) await tx.query('ROLLBACK').catch(discard);
      throw error;
    }
  };
  return pool instanceof ScopedPool ? pool.connect(run) : withConnection(pool, run);
}
