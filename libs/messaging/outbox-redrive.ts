/** Publishes events again that were published before: for a broker that has lost its data. */
import { defineStatement } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import type pg from 'pg';

// A relay that is publishing at this moment has the old fence, so it marks none of these events.
const raiseFences = defineStatement(
  'outbox_redrive_fences',
  'UPDATE outbox_lease SET fence = fence + 1',
);

// A mark that began before the fences were raised has compared the old ones, and may commit later.
const waitForMarks = defineStatement('outbox_redrive_wait', 'LOCK TABLE outbox IN SHARE MODE');

const clearPublished = defineStatement<{ count: number }>(
  'outbox_redrive',
  `WITH cleared AS (
     UPDATE outbox SET published_at = NULL WHERE published_at >= $1 RETURNING id
   )
   SELECT count(*) AS count FROM cleared`,
);

/**
 * Makes every event that was published since `since` unpublished again; the relay then publishes it,
 * with the same id, before later events of its key. Resolves to the number of events. All events change
 * in one statement: a relay that saw only some would publish later events of a key before earlier ones.
 *
 * Waits until the transactions that write to the outbox now have ended; new ones wait meanwhile.
 */
export async function redriveOutbox(pool: pg.Pool, since: Date): Promise<number> {
  await raiseFences.run(pool);
  // A transaction of its own: nobody writes to the outbox while it has the lock.
  await inTransaction(pool, (tx) => waitForMarks.run(tx));
  const [cleared] = await clearPublished.run(pool, [since]);
  return cleared?.count ?? 0;
}
