/** The health of destinations: finds the changes, so that only changes are written to the database. */
import { createExpiringCache } from '@creditlane/runtime/expiring-cache';
import type { AttemptResult } from '../sending/attempt.ts';

/** Whether a destination's receiver answers with success. */
export interface DestinationHealth {
  readonly revision: number;
  readonly succeeded: boolean;
  /** Set when the receiver answered that it is gone: the stable word for the reason to disable it. */
  readonly goneReason?: string | undefined;
}

/** Health that does not change is stored again after this time. */
const REPEAT_MS = 60_000;

export class HealthTracker {
  readonly #stored = createExpiringCache<DestinationHealth>(10_000, REPEAT_MS);

  /**
   * The health to store after a batch of results, by destination id. Results at an earlier revision
   * than the latest of the batch are ignored, and one success in the batch outweighs its failures. The success of a delivery
   * that has failed before is always stored: another process may have stored that failure.
   */
  changesAfter(results: readonly AttemptResult[]): Map<string, DestinationHealth> {
    const changes = new Map<string, DestinationHealth>();
    const recovered = new Set<string>();
    for (const { delivery, revision, state, disables, reason } of results) {
      if (revision === undefined) continue;
      const { destinationId } = delivery;
      const latest = changes.get(destinationId);
      if (latest !== undefined && latest.revision > revision) continue;
      const sameRevision = latest?.revision === revision ? latest : undefined;
      changes.set(destinationId, {
        revision,
        succeeded: sameRevision?.succeeded || state === 'delivered',
        goneReason: disables ? reason : sameRevision?.goneReason,
      });
      const mayHaveFailed = delivery.attempts > 0 || delivery.replays > 0;
      if (mayHaveFailed && state === 'delivered') recovered.add(destinationId);
    }
    for (const [id, { revision, succeeded, goneReason }] of changes) {
      const stored = this.#stored.get(id);
      const isStored = stored?.revision === revision && stored.succeeded === succeeded;
      if (isStored && goneReason === undefined && !recovered.has(id)) changes.delete(id);
    }
    return changes;
  }

  /** Call it after the commit of the transaction that stored the changes. */
  markStored(changes: ReadonlyMap<string, DestinationHealth>): void {
    for (const [id, health] of changes) this.#stored.set(id, health);
  }
}
