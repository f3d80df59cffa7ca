/** Which results say something about their destinations that is not stored yet. */
import { LRUCache } from 'lru-cache';
import type { AttemptResult } from '../sending/attempt.ts';

/** How a destination answered. */
export interface DestinationHealth {
  readonly revision: number;
  readonly succeeded: boolean;
  /** Why nothing more is to be sent, where the destination said so; a stable word. */
  readonly goneReason?: string | undefined;
}

/** How often the health of a destination is stored again while it does not change. */
const REPEAT_MS = 60_000;

export class HealthTracker {
  readonly #stored = new LRUCache<string, DestinationHealth>({ max: 10_000, ttl: REPEAT_MS });

  /**
   * The health to store after a batch of results, by destination id. Results at an earlier revision
   * than the latest of the batch are ignored, and one success in the batch outweighs its failures.
   */
  changesAfter(results: readonly AttemptResult[]): Map<string, DestinationHealth> {
    const changes = new Map<string, DestinationHealth>();
    for (const { delivery, revision, state, disables, reason } of results) {
      if (revision === undefined) continue;
      const { destinationId } = delivery;
      const other = changes.get(destinationId);
      if (other !== undefined && other.revision > revision) continue;
      const same = other?.revision === revision ? other : undefined;
      changes.set(destinationId, {
        revision,
        succeeded: same?.succeeded || state === 'delivered',
        goneReason: disables ? reason : same?.goneReason,
      });
    }
    for (const [id, { revision, succeeded, goneReason }] of changes) {
      const stored = this.#stored.get(id);
      const isStored = stored?.revision === revision && stored.succeeded === succeeded;
      if (isStored && goneReason === undefined) changes.delete(id);
    }
    return changes;
  }

  /** To be called after the transaction that stored the changes. */
  markStored(changes: ReadonlyMap<string, DestinationHealth>): void {
    for (const [id, health] of changes) this.#stored.set(id, health);
  }
}
