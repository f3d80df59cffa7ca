/** Deletes what has been kept for long enough, a slice at a time, so that no statement takes long. */

import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type pg from 'pg';
import { defineStatement, type Statement } from './statement.ts';

const EVERY_MS = 60_000;
/** How many rows one statement deletes. */
export const PURGE_BATCH_ROWS = 1_000;

/** Deletes one slice and tells how many rows that was. */
export type Purge = Statement<{ deleted: number }>;

/** A purge by a DELETE that takes one slice at a time and none when nothing is due. */
export function definePurge(name: string, deletion: string): Purge {
  return defineStatement(
    name,
    `WITH gone AS (${deletion} RETURNING 1) SELECT count(*) AS deleted FROM gone`,
  );
}

/** A DELETE of rows whose `column` lies further back than `age`, as PostgreSQL writes intervals. */
export const deleteOlderThanSql = (table: string, column: string, age: string) =>
  `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM ${table} WHERE ${column} < now() - interval '${age}' LIMIT ${PURGE_BATCH_ROWS}))`;

/** Deletes all that is due now; resolves to how many rows that was. */
export async function runPurge(pool: pg.Pool, due: Purge): Promise<number> {
  let total = 0;
  for (;;) {
    const [slice] = await due.run(pool);
    if (!slice?.deleted) return total;
    total += slice.deleted;
  }
}

export interface RetentionOptions {
  pool: pg.Pool;
  log: Log;
  purges: Purge[];
}

/** Purges every minute until closed. Any number of processes may do so at once. */
export function startRetention({ pool, log, purges }: RetentionOptions): PeriodicTask {
  const round = async () => {
    for (const due of purges) {
      await runPurge(pool, due).catch((err) =>
        log.warn({ err, purge: due.name }, 'old rows were not deleted; tried again in a minute'),
      );
    }
  };
  return startPeriodicTask(EVERY_MS, round, EVERY_MS);
}
