/** The planner's statistics of the queue. */

import type { Database } from '@creditlane/postgres/database';
import { isLockTimeout } from '@creditlane/postgres/error-classes';
import { limitLockWaitQuery } from '@creditlane/postgres/lock-wait';
import { defineStatement, runQuery } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';

/** While deliveries are sent. After a VACUUM, a statement with a plan for an empty queue takes up to 0.13 s until the next look. */
const BUSY_EVERY_MS = 250;
/** At most, while a delivery comes now and then. */
const QUIET_EVERY_MS = 5_000;
/** Rows for which PostgreSQL takes the indexes that the statements are written for. */
const ROWS = 20_000;
/** SQLSTATEs of an earlier PostgreSQL, which has no such function, and of a role without the privilege. */
const REFUSALS: ReadonlySet<unknown> = new Set(['42883', '42501']);
/** More rows than fit on a page: such statistics are from here, when the queue had fewer pages. */
const MAX_PAGE_ROWS = 100;

/** The planner takes the rows of a page from the statistics, and the pages from the file. */
const selectLength = defineStatement<{ pages: number; pageRows: number }>(
  'queue_length',
  `SELECT (pg_relation_size(oid) / current_setting('block_size')::int)::int AS pages,
     greatest(reltuples, 0) / greatest(relpages, 1) AS "pageRows"
   FROM pg_class WHERE oid = 'deliveries_queue'::regclass`,
);

/**
 * Leaves a page in the file of a queue that never had a row: the planner takes a file without pages for empty, whatever the
 * statistics say. VACUUM leaves the pages of this table as they are.
 */
const addPageSql = `SAVEPOINT page;
  INSERT INTO deliveries_queue (id, position, event_id, destination_id, application_id, state, leased, fence)
  SELECT id, 0, id, id, id, 'dead', false, 0 FROM gen_random_uuid() AS id;
  ROLLBACK TO SAVEPOINT page`;

/**
 * Makes the queue look long to the planner when VACUUM has found it short: a plan for an empty queue reads any index from
 * end to end, and prepared statements keep it when the queue has grown. Measured with 20,000 rows: 20,131 blocks for a claim that
 * reads some 100. While the queue has rows, most statements can only look deliveries up anyway (`pending-deliveries.ts`); the statistics
 * matter to plans that are made while it has none. A change of the statistics makes all prepared statements be planned again.
 */
export async function keepQueueStatistics(pool: Database['pool']): Promise<void> {
  const [queue] = await selectLength.run(pool);
  if (queue === undefined) return;
  const { pages, pageRows } = queue;
  const isShort = pages * pageRows < ROWS / 2;
  const hasGrown = pageRows > MAX_PAGE_ROWS && pages * pageRows > ROWS * 2;
  if (!isShort && !hasGrown) return;
  try {
    await inTransaction(pool, async (tx) => {
      // A VACUUM has the lock meanwhile; PostgreSQL would end it after a second for whoever waits.
      await runQuery(tx, limitLockWaitQuery());
      if (pages === 0) await tx.query(addPageSql);
      await tx.query(
        `SELECT pg_restore_relation_stats('schemaname', current_schema()::text, 'relname', 'deliveries_queue',
           'relpages', ${Math.max(pages, 1)}::int, 'reltuples', ${ROWS}::real)`,
      );
    });
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
  }
}

/**
 * Sets the statistics whenever they say that the queue is short, until closed, or until PostgreSQL cannot or may not set them.
 * Looks when started, and then only after deliveries have come into the queue of this process.
 */
export function startQueueStatistics(
  pool: Database['pool'],
  log: Log,
  queue: { readonly size: number; waitWhileEmpty(stop: AbortSignal): Promise<void> },
): PeriodicTask {
  let isRefused = false;
  let dueMs = 0;
  return startPeriodicTask(BUSY_EVERY_MS, async (stop) => {
    const nowMs = performance.now();
    if (!isRefused && (queue.size > 0 || nowMs >= dueMs)) {
      dueMs = nowMs + QUIET_EVERY_MS;
      await keepQueueStatistics(pool).catch((err) => {
        isRefused = REFUSALS.has(err?.code);
        const next = isRefused
          ? 'PostgreSQL 18 and the owner of the table are needed'
          : 'the next attempt follows when deliveries are sent';
        log.warn({ err }, `the statistics of the queue were not set; ${next}`);
      });
    }
    await queue.waitWhileEmpty(stop);
  });
}
