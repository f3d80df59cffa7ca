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
import type { DestinationLog } from './destination-log.ts';
import { type EndPendingDeps, endPending } from './end-pending.ts';

/** How late a destination is noticed, at most, that another process has disabled and not ended. */
const POLL_MS = 5_000;
/** How late a delivery is ended, at most, that another transaction had locked. */
const LOCKED_POLL_MS = 250;

export interface DisabledDestinationsDeps extends EndPendingDeps {
  readonly log: Log;
  readonly destinationLog: DestinationLog;
}

/** Runs until closed; `wake` begins with a destination that has just been disabled. */
export function startEndingDisabledDestinations(deps: DisabledDestinationsDeps): PeriodicTask {
  return startPeriodicTask(POLL_MS, (stop) => endDisabledDestinations(deps, stop));
}

/** Ends what is pending to all disabled destinations; resolves to the pause before the next round. */
async function endDisabledDestinations(
  deps: DisabledDestinationsDeps,
  stop: AbortSignal,
): Promise<number> {
  const { pool, log } = deps;
  try {
    const destinationIds = await findDisabledWithPending(pool);
    let hasFailed = false;
    for (const destinationId of destinationIds) {
      if (!(await endDisabledDestination(deps, destinationId, stop))) hasFailed = true;
    }
    return destinationIds.length > 0 && !hasFailed ? LOCKED_POLL_MS : POLL_MS;
  } catch (err) {
    log.warn({ err }, 'deliveries to disabled destinations cannot be ended');
    return POLL_MS;
  }
}

/** False when the destination's deliveries cannot be ended; rejects when the database is unavailable. */
async function endDisabledDestination(
  deps: DisabledDestinationsDeps,
  destinationId: string,
  stop: AbortSignal,
): Promise<boolean> {
  const { log, destinationLog } = deps;
  try {
    const deliveries = await endPending(deps, destinationId, 'destination_disabled', stop);
    const message = 'deliveries to a disabled destination have ended';
    if (deliveries > 0) destinationLog('info', destinationId, message, { deliveries });
    return true;
  } catch (err) {
    if (isDatabaseUnavailable(err)) throw err;
    // The same destination may come first in every round, so the others do not depend on it.
    log.warn({ err, destinationId }, 'deliveries to a disabled destination cannot be ended');
    return false;
  }
}
