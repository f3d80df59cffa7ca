/** Publishes events again that were published before: for a broker that has lost its data. */
import { PUBLISH_TIMEOUT_MS } from '@creditlane/events/bus';
import { limitLockWaitQuery, whenUnlocked } from '@creditlane/postgres/lock-wait';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { defineStatement } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import { isCalendarDate } from '@creditlane/runtime/calendar-date';
import type pg from 'pg';

/**
 * A relay may be about to read a batch that it publishes after the republished events. Such a relay waits for the database
 * for at most 10 s (libs/postgres/database.ts), and for the bus for at most PUBLISH_TIMEOUT_MS.
 */
export const REPUBLISH_WAIT_MS = 10_000 + PUBLISH_TIMEOUT_MS;

/**
 * The time zone is required, and the date must be one that a calendar has and be past, because a time that is later than the
 * operator meant leaves events lost: `Date` takes 30 February for 2 March.
 */
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;
export const TIME_RULE = 'must be a past time with its zone, as in 2026-03-01T09:30:00Z';

/** The time since which events are published again; undefined when the text breaks TIME_RULE. */
export function parseRepublishTime(text: string): Date | undefined {
  if (!ISO_TIME.test(text) || !isCalendarDate(text.slice(0, 10))) return undefined;
  const time = new Date(text);
  // False for a time that is none, too.
  return time.getTime() <= Date.now() ? time : undefined;
}

// A relay that is publishing at this moment has the old fence, so it marks none of these events.
const raiseFences = defineStatement(
  'outbox_republish_fences',
  'UPDATE outbox_lease SET fence = fence + 1',
);

// A mark that began before the fences were raised has compared the old ones, and may commit later.
const waitForMarks = defineStatement('outbox_republish_wait', 'LOCK TABLE outbox IN SHARE MODE');

const clearPublished = defineStatement<{ count: number }>(
  'outbox_republish',
  `WITH cleared AS (
     UPDATE outbox SET published_at = NULL WHERE published_at >= $1 RETURNING id
   )
   SELECT count(*) AS count FROM cleared`,
);

const wakeRelays = defineStatement('outbox_republish_notify', `SELECT pg_notify('outbox', '')`);

/**
 * Makes every event that was published since `since` unpublished again; the relay then publishes it,
 * with the same id, before later events of its key. Resolves to the number of events. All events change
 * in one statement: a relay that saw only some would publish later events of a key before earlier ones.
 *
 * Waits, without limit, for a moment in which no transaction has written to the outbox; new ones wait for at most
 * LOCK_WAIT_MS at a time.
 */
export async function republishOutbox(pool: pg.Pool, since: Date): Promise<number> {
  await raiseFences.run(pool);
  // A transaction of its own: nobody writes to the outbox while it has the lock.
  const lockOutbox = () =>
    inTransaction(pool, (tx) => runPipeline(tx, [limitLockWaitQuery(), waitForMarks.query()]));
  await whenUnlocked(lockOutbox);
  const [cleared] = await clearPublished.run(pool, [since]);
  await wakeRelays.run(pool);
  return cleared?.count ?? 0;
}
