/**
 * Ends what is left of removed destinations. An attempt at a removed destination makes its own delivery
 * dead, but the next attempt may be a day away, and a disabled destination has none.
 */
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import { NIL_UUID } from '@creditlane/runtime/ids';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { deleteStatesOfRemoved, findDestinationsToCheck } from '../store/removed-destinations.ts';
import { MAX_LOGGED_IDS } from './destination-log.ts';
import type { Destinations } from './destinations.ts';
import { type EndPendingDeps, endPending } from './end-pending.ts';

const EVERY_MS = 60_000;
/** Destinations per round, which is one call of the integrations service. */
const MAX_PER_ROUND = 1_000;

export interface RemovedDestinationsDeps extends EndPendingDeps {
  readonly log: Log;
  readonly destinations: Pick<Destinations, 'getUncached'>;
}

/** Runs `endRemovedDestinations` every minute until closed. */
export function startEndingRemovedDestinations(deps: RemovedDestinationsDeps): PeriodicTask {
  let after = NIL_UUID;
  const round = async (stop: AbortSignal) => {
    try {
      after = await endRemovedDestinations(deps, after, stop);
    } catch (err) {
      deps.log.warn({ err }, 'removed destinations cannot be found; the next try is in a minute');
    }
  };
  return startPeriodicTask(EVERY_MS, round, { pauseFirst: true });
}

/**
 * Asks the integrations service for the next destinations after `after` that are disabled or have pending
 * deliveries. Of those that were removed, the pending deliveries become dead with the reason
 * `destination_removed`, and the state is deleted. Resolves to the `after` of the next round.
 */
export async function endRemovedDestinations(
  deps: RemovedDestinationsDeps,
  after: string,
  stop: AbortSignal,
): Promise<string> {
  const { pool, log, destinations } = deps;
  const ids = await findDestinationsToCheck(pool, after, MAX_PER_ROUND);
  const found = await Promise.all(ids.map((id) => destinations.getUncached(id, undefined)));
  const removed = ids.filter((_, index) => found[index] === undefined);
  if (removed.length > 0) {
    let deliveries = 0;
    for (const id of removed) deliveries += await endPending(deps, id, 'destination_removed', stop);
    if (stop.aborted) return after;
    await deleteStatesOfRemoved(pool, removed);
    const destinationIds = removed.slice(0, MAX_LOGGED_IDS);
    log.info(
      { destinations: removed.length, destinationIds, deliveries },
      'webhook destinations were removed',
    );
  }
  return ids.length < MAX_PER_ROUND ? NIL_UUID : (ids.at(-1) ?? NIL_UUID);
}
