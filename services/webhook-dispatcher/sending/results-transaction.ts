/** The transactions that record a batch of results: one round trip each, in the order written here. */
import type { Database } from '@creditlane/postgres/database';
import type { DestinationHealth } from '../destinations/destination-health.ts';
import type { LeasedDelivery, UntriedDelivery } from '../queue/delivery.ts';
import {
  lockReplayedLanesQuery,
  promoteNextQuery,
  releaseUntriedQuery,
} from '../store/deliveries.ts';
import { type DisabledDestination, updateHealthQuery } from '../store/destinations.ts';
import { runNamedPipeline } from '../store/named-pipeline.ts';
import {
  limitLockWaitsQuery,
  recordLateResultsQuery,
  recordResultsQuery,
} from '../store/results.ts';
import type { AttemptResult } from './attempt.ts';

/** The results and changes that one transaction writes. */
export interface ResultBatch {
  readonly results: readonly AttemptResult[];
  /** Deliveries that could not be tried. */
  readonly untried: readonly UntriedDelivery[];
  readonly healthChanges: ReadonlyMap<string, DestinationHealth>;
}

export interface ResultLimits {
  readonly leaseMs: number;
  /** How long a delivery that fails, or lacks its content, holds its lane. */
  readonly holdMs: number;
  /** How long a destination may go without a success before it is disabled. */
  readonly disableAfterMs: number;
}

export interface RecordedBatch {
  readonly disabled: readonly DisabledDestination[];
  /** The next deliveries of the lanes, leased by this process. */
  readonly promoted: readonly LeasedDelivery[];
  /** Results that are not written: none of their deliveries is pending under that lease any more. */
  readonly late: readonly AttemptResult[];
}

/** How soon an untried delivery is due again. */
export const UNTRIED_DELAY_MS = 1_000;
/**
 * How long a statement of a batch waits for a lock. All other results wait meanwhile, and a batch of 1,000 with one
 * locked delivery waits some eleven times until that delivery is alone.
 */
const LOCK_WAIT_MS = 250;

/** Records the whole batch. When the database refuses any part, rejects with its error and writes nothing. */
export async function recordBatch(
  pool: Database['pool'],
  { results, untried, healthChanges }: ResultBatch,
  { leaseMs, holdMs, disableAfterMs }: ResultLimits,
): Promise<RecordedBatch> {
  const tried = results.map(({ delivery }) => delivery);
  const {
    recorded = [],
    disabled = [],
    promoted = [],
  } = await runNamedPipeline(pool, {
    lockWaitsLimited: limitLockWaitsQuery(LOCK_WAIT_MS),
    released:
      untried.length > 0
        ? releaseUntriedQuery(untried, { delayMs: UNTRIED_DELAY_MS, holdMs })
        : undefined,
    replayedLocked: tried.some(({ replays }) => replays > 0)
      ? lockReplayedLanesQuery(tried)
      : undefined,
    recorded: tried.length > 0 ? recordResultsQuery(results, holdMs) : undefined,
    disabled: healthChanges.size > 0 ? updateHealthQuery(healthChanges, disableAfterMs) : undefined,
    // Last, so that nothing to a destination that has just been disabled is leased.
    promoted: tried.length > 0 ? promoteNextQuery(tried, leaseMs) : undefined,
  });
  const recordedIds = new Set(recorded.map(({ id }) => id));
  const late = results.filter(({ delivery }) => !recordedIds.has(delivery.id));
  return { disabled, promoted, late };
}

/** Records results of `recordBatch` that were late. Apart from it, because it looks at several days of ended deliveries. */
export async function recordLate(
  pool: Database['pool'],
  late: readonly AttemptResult[],
): Promise<void> {
  await runNamedPipeline(pool, {
    lockWaitsLimited: limitLockWaitsQuery(LOCK_WAIT_MS),
    recorded: recordLateResultsQuery(late),
  });
}
