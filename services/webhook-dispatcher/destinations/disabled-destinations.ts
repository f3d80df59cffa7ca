/**
 * Ends the pending deliveries to disabled destinations. The stored state of a destination is the only mark, so
 * that any process goes on where another one died, and finds what is written while a destination is disabled.
 */
import { isDatabaseUnavailable } from '@creditlane/postgres/error-classes';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { findDisabledWithPending } from '../store/destinations.ts';
import { type EndPendingDeps, endPending } from './end-pending.ts';

/** How late a destination is noticed, at most, that another process has disabled and not ended. */
const POLL_MS = 5_000;
/** How late a delivery is ended, at most, that another transaction had locked. */
const LOCKED_POLL_MS = 250;

export class DisabledDestinations {
  readonly #deps: EndPendingDeps & { readonly log: Log };
  readonly #rounds: PeriodicTask;

  constructor(deps: EndPendingDeps & { readonly log: Log }) {
    this.#deps = deps;
    this.#rounds = startPeriodicTask(POLL_MS, (stop) => this.#endAll(stop));
  }

  /** Begins with a destination that has just been disabled. */
  wake(): void {
    this.#rounds.wake();
  }

  /** Resolves once no more slices are written. */
  close(): Promise<void> {
    return this.#rounds.close();
  }

  /** Ends what is pending to all disabled destinations; resolves to the pause before the next round. */
  async #endAll(stop: AbortSignal): Promise<number> {
    const { pool, log } = this.#deps;
    try {
      const destinationIds = await findDisabledWithPending(pool);
      let hasFailed = false;
      for (const destinationId of destinationIds) {
        if (!(await this.#end(destinationId, stop))) hasFailed = true;
      }
      return destinationIds.length > 0 && !hasFailed ? LOCKED_POLL_MS : POLL_MS;
    } catch (err) {
      log.warn({ err }, 'deliveries to disabled destinations cannot be ended');
      return POLL_MS;
    }
  }

  /** False when the destination's deliveries cannot be ended; rejects when the database is unavailable. */
  async #end(destinationId: string, stop: AbortSignal): Promise<boolean> {
    const { log } = this.#deps;
    const reason = 'destination_disabled';
    try {
      const deliveries = await endPending(this.#deps, destinationId, reason, stop);
      if (deliveries === 0) return true;
      log.info({ destinationId, deliveries }, 'deliveries to a disabled destination have ended');
      return true;
    } catch (err) {
      if (isDatabaseUnavailable(err)) throw err;
      // The same destination may come first in every round, so the others do not depend on it.
      log.warn({ err, destinationId }, 'deliveries to a disabled destination cannot be ended');
      return false;
    }
  }
}
