/** Deletes rows after their time, or empties or marks them, in batches, so that no statement takes long. */

import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type pg from 'pg';
import { defineStatement, type Statement } from './statement.ts';

const EVERY_MS = 60_000;
/** The largest number of rows of one statement. */
export const PURGE_BATCH_ROWS = 1_000;

/** Deletes one batch of the rows that are due, or changes them so that they are due no more, and returns their number. */
export type Purge = Statement<{ purged: number }>;

/** Defines a purge by a DELETE of at most PURGE_BATCH_ROWS rows, or by an UPDATE after which as many are due no more. */
export function definePurge(name: string, change: string): Purge {
  return defineStatement(
    name,
    `WITH changed AS (${change} RETURNING 1) SELECT count(*) AS purged FROM changed`,
  );
}

/**
 * Returns a DELETE of rows whose `column` is older than `age`, a PostgreSQL interval. The age is compared again for a row that was
 * changed meanwhile: some versions of PostgreSQL, such as 17.6, delete its new version without comparing the `ctid` of that.
 */
export const deleteOlderThanSql = (table: string, column: string, age: string) => {
  const isOld = `${column} < now() - interval '${age}'`;
  return `DELETE FROM ${table} WHERE ${isOld} AND ctid = ANY (ARRAY(
     SELECT ctid FROM ${table} WHERE ${isOld} LIMIT ${PURGE_BATCH_ROWS}))`;
};

/** Purges all rows that are due, or those of the batches until `stop`; resolves to their number. */
export async function runPurge(pool: pg.Pool, purge: Purge, stop?: AbortSignal): Promise<number> {
  let total = 0;
  while (!stop?.aborted) {
    const [batch] = await purge.run(pool);
    if (!batch?.purged) break;
    total += batch.purged;
  }
  return total;
}

export interface RetentionOptions {
  pool: pg.Pool;
  log: Log;
  purges: Purge[];
}

/** Purges every minute until closed. Several processes can purge the same table. */
export function startRetention({ pool, log, purges }: RetentionOptions): PeriodicTask {
  const round = async (stop: AbortSignal) => {
    for (const purge of purges) {
      await runPurge(pool, purge, stop).catch((err) =>
        log.warn(
          { err, purge: purge.name },
          'old rows were not purged; the next attempt is in a minute',
        ),
      );
    }
  };
  return startPeriodicTask(EVERY_MS, round, { pauseFirst: true });
}
