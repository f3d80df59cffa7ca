/**
 * Ends the pending deliveries to a destination in slices, each a short transaction with a pause after it, so that
 * hundreds of thousands hold up no other destination. A process that dies leaves the rest to the next one.
 */
import type { Database } from '@creditlane/postgres/database';
import { runQuery } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import { pause } from '@creditlane/runtime/concurrency/pause';
import { NIL_UUID } from '@creditlane/runtime/ids';
import type { DeliveryQueue } from '../queue/delivery-queue.ts';
import {
  type EndedDelivery,
  type EndReason,
  type EndSlice,
  endSliceQuery,
} from '../store/pending/ends.ts';
import { promoteNextQuery } from '../store/pending/lanes.ts';

export interface EndPendingDeps {
  readonly pool: Database['pool'];
  /** Drops the deliveries that have ended, and gets those that are promoted when the destination was enabled meanwhile. */
  readonly queue: Pick<DeliveryQueue, 'add' | 'dropEnded'>;
  readonly leaseMs: number;
}

/** Deliveries of a slice, which is one transaction of some 30 ms. */
const SLICE = 500;
/** After a slice, at least. */
const MIN_PAUSE_MS = 10;

/** Those that wait go first, so that ending the others, which keep them waiting, promotes none. */
const STATES = ['waiting', 'due'] as const;

/** Ends the pending deliveries to the destination, and returns their number. Those locked by others remain. */
export async function endPending(
  deps: EndPendingDeps,
  destinationId: string,
  reason: EndReason,
  stop: AbortSignal,
): Promise<number> {
  let count = 0;
  for (const state of STATES) {
    let after: EndSlice['after'] | undefined = { createdAt: '-infinity', id: NIL_UUID };
    while (after !== undefined && !stop.aborted) {
      const beganMs = performance.now();
      const ended = await endSlice(deps, { destinationId, reason, state, after, limit: SLICE });
      count += ended.length;
      // Only those: what was leased since the destination was enabled, which it may have been meanwhile, is to be sent.
      deps.queue.dropEnded(destinationId, new Set(ended.map(({ id }) => id)));
      after = ended.length < SLICE ? undefined : ended.at(-1);
      // As long as the slice took, so that no more than half of the time goes into slices.
      if (after) await pause(Math.max(MIN_PAUSE_MS, performance.now() - beganMs), stop);
    }
  }
  return count;
}

/** Ends the deliveries of one slice. What waits behind them is due: its destination may be enabled again. */
async function endSlice(
  { pool, queue, leaseMs }: EndPendingDeps,
  slice: EndSlice,
): Promise<EndedDelivery[]> {
  const leasedAtMs = performance.now();
  const { ended, promoted } = await inTransaction(pool, async (tx) => {
    const ended = await runQuery(tx, endSliceQuery(slice));
    const promoted = ended.length > 0 ? await runQuery(tx, promoteNextQuery(ended, leaseMs)) : [];
    return { ended, promoted };
  });
  if (promoted.length > 0) queue.add(promoted, leasedAtMs);
  return ended;
}
