/** Publishes events again that were published before: for a broker that has lost its data. */
import { setTimeout as delay } from 'node:timers/promises';
import { PUBLISH_TIMEOUT_MS } from '@creditlane/events/bus';
import { isLockTimeout } from '@creditlane/postgres/error-classes';
import { defineStatement } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import type pg from 'pg';

/**
 * How long the command waits for the lock: writes to the outbox wait behind it. After this time it lets them run, and
 * tries again.
 */
const LOCK_WAIT_MS = 100;
/** How much longer each pause between two tries is than the one before, and the longest pause. */
const PAUSE_MS = 200;
const MAX_PAUSE_MS = 2_000;

/**
 * A relay may be about to read a batch that it publishes after the republished events. Such a relay waits for the database
 * for at most 10 s (libs/postgres/database.ts), and for the bus for at most PUBLISH_TIMEOUT_MS.
 */
export const REPUBLISH_WAIT_MS = 10_000 + PUBLISH_TIMEOUT_MS;

/** The time zone is required: a time that is an hour too late would leave an hour of events lost. */
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;
export const TIME_RULE = 'must be a time with its zone, as in 2026-03-01T09:30:00Z';

/** The time since which events are published again; undefined when the text breaks TIME_RULE. */
export function parseRepublishTime(text: string): Date | undefined {
  const time = new Date(text);
  return ISO_TIME.test(text) && !Number.isNaN(time.getTime()) ? time : undefined;
}

// A relay that is publishing at this moment has the old fence, so it marks none of these events.
const raiseFences = defineStatement(
  'outbox_republish_fences',
  'UPDATE outbox_lease SET fence = fence + 1',
);

// A mark that began before the fences were raised has compared the old ones, and may commit later.
const waitForMarks = defineStatement('outbox_republish_wait', 'LOCK TABLE outbox IN SHARE MODE');

const limitWait = defineStatement(
  'outbox_republish_limit',
  `SET LOCAL lock_timeout = ${LOCK_WAIT_MS}`,
);

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
  await waitUntilMarked(pool);
  const [cleared] = await clearPublished.run(pool, [since]);
  await wakeRelays.run(pool);
  return cleared?.count ?? 0;
}

async function waitUntilMarked(pool: pg.Pool): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      // A transaction of its own: nobody writes to the outbox while it has the lock.
      return await inTransaction(pool, async (tx) => {
        await limitWait.run(tx);
        await waitForMarks.run(tx);
      });
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      await delay(Math.min(MAX_PAUSE_MS, attempt * PAUSE_MS));
    }
  }
}
