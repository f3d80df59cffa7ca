/** Holds the publishing of an outbox: no relay publishes, and events wait in the outbox. */

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { defineStatement } from '@creditlane/postgres/statement';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import type pg from 'pg';

/** Relays take over a shard whose lease has not been renewed for three seconds. */
const RENEW_MS = 500;

// A relay that is publishing at this moment has the old fence, so it marks nothing.
const takeAll = defineStatement(
  'outbox_hold_take',
  'UPDATE outbox_lease SET holder = $1, fence = fence + 1',
);

const renewAll = defineStatement<{ held: number; shards: number }>(
  'outbox_hold_renew',
  `WITH renewed AS (
     UPDATE outbox_lease SET expires_at = clock_timestamp() + interval '3 seconds' WHERE holder = $1
     RETURNING shard
   )
   SELECT (SELECT count(*) FROM renewed) AS held, (SELECT count(*) FROM outbox_lease) AS shards`,
);

const releaseAll = defineStatement(
  'outbox_hold_release',
  'UPDATE outbox_lease SET holder = NULL WHERE holder = $1',
);

export class HoldLostError extends LoggableError {
  override message =
    'the hold has ended early: it was not renewed in time, so that relays publish again, or another hold has begun';
}

export interface PublishingHold {
  /** How long relays may still be publishing what they read before. */
  settleMs: number;
  /** How long publishing is held, from when nothing is published any more. */
  holdMs: number;
  /** Called when nothing is published any more. */
  onHeld(): void;
}

/**
 * Takes the leases of all shards and keeps them, then releases them. Throws `HoldLostError` when a relay or another hold
 * took over meanwhile. If the process dies, relays publish again three seconds later.
 */
export async function holdPublishing(
  pool: pg.Pool,
  { settleMs, holdMs, onHeld }: PublishingHold,
): Promise<void> {
  const holder = randomUUID();
  const keepUntil = async (atMs: number) => {
    while (performance.now() < atMs) {
      const [row] = await renewAll.run(pool, [holder]);
      if (row === undefined || row.held < row.shards) throw new HoldLostError();
      await delay(Math.min(RENEW_MS, Math.max(1, atMs - performance.now())));
    }
  };
  await takeAll.run(pool, [holder]);
  try {
    await keepUntil(performance.now() + settleMs);
    onHeld();
    await keepUntil(performance.now() + holdMs);
  } finally {
    await releaseAll.run(pool, [holder]);
  }
}
