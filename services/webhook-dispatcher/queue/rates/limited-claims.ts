/**
 * Claims the due deliveries to destinations with a rate limit, as many as the rate allows all replicas together. They are claimed apart
 * from all others, so that they take no place in a claim and wait in the database, not in memory. While no destination has a limit,
 * nothing is asked.
 */
import type { Database } from '@creditlane/postgres/database';
import { runQuery } from '@creditlane/postgres/statement';
import { pause } from '@creditlane/runtime/concurrency/pause';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import {
  claimLimitedQuery,
  PERMIT_MS,
  removeRatesQuery,
  saveRatesQuery,
} from '../../store/rates.ts';
import type { Backlog } from '../backlog.ts';
import type { DeliveryQueue } from '../delivery-queue.ts';
import { type DestinationRates, splitChanges } from './destination-rates.ts';

export interface LimitedClaimsDeps {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly queue: DeliveryQueue;
  readonly rates: DestinationRates;
  readonly backlog: Pick<Backlog, 'add'>;
  readonly leaseMs: number;
}

/** The least time between two claims. So a claim of the fastest destination takes 50 permits. */
const MIN_PAUSE_MS = 50;
/**
 * Between two claims for all limited destinations, not only for those that are known to have due deliveries. This is also the longest
 * delay of a delivery that another process has planned, and beside it of one that is tried again.
 */
const ALL_EVERY_MS = 1_000;
const MAX_CLAIMED = 1_000;

export interface LimitedClaims extends Pick<PeriodicTask, 'close'> {
  /** How long ago a claim last succeeded, or none was due: about a second while claims succeed, and 0 while no destination has a limit. */
  readonly claimAgeMs: number;
}

/** Writes what this process has found out of rate limits, and claims for limited destinations, until closed. */
export function startLimitedClaims(deps: LimitedClaimsDeps): LimitedClaims {
  const { log, rates } = deps;
  let claimedMs = Number.NEGATIVE_INFINITY;
  let allClaimedMs = Number.NEGATIVE_INFINITY;
  let succeededMs = performance.now();
  const task = startPeriodicTask(ALL_EVERY_MS, async (stop) => {
    if (rates.isEmpty) return Infinity;
    await pause(Math.max(0, claimedMs + MIN_PAUSE_MS - performance.now()), stop);
    if (stop.aborted) return 0;
    claimedMs = performance.now();
    const claimsAll = claimedMs - allClaimedMs >= ALL_EVERY_MS;
    const claimable = rates.takeClaimable(claimedMs);
    try {
      await writeChanges(deps);
      await claim(deps, claimsAll ? rates.ids : claimable);
      succeededMs = performance.now();
    } catch (err) {
      log.warn({ err }, 'due deliveries to destinations with a rate limit cannot be claimed');
    }
    if (claimsAll) allClaimedMs = claimedMs;
    const nowMs = performance.now();
    return Math.min(rates.nextClaimInMs(nowMs), allClaimedMs + ALL_EVERY_MS - nowMs);
  });
  rates.onWork = task.wake;
  return {
    close: task.close,
    get claimAgeMs() {
      return rates.isEmpty ? 0 : performance.now() - succeededMs;
    },
  };
}

async function writeChanges({ pool, rates, backlog }: LimitedClaimsDeps): Promise<void> {
  const changes = rates.takeChanges();
  const { saved, removed } = splitChanges(changes);
  try {
    if (saved.length > 0) await runQuery(pool, saveRatesQuery(saved));
    if (removed.size > 0) await runQuery(pool, removeRatesQuery(removed));
  } catch (err) {
    rates.restore(changes);
    throw err;
  }
  if (removed.size > 0) backlog.add(removed.keys());
}

async function claim(
  { pool, queue, rates, leaseMs }: LimitedClaimsDeps,
  destinationIds: readonly string[],
): Promise<void> {
  const { total, byDestination, otherDestinations } = queue.limitedCapacity();
  const limit = Math.min(total, MAX_CLAIMED);
  if (limit === 0 || destinationIds.length === 0) return;
  const leasedAtMs = performance.now();
  const query = claimLimitedQuery({
    destinationIds,
    capacities: byDestination,
    otherCapacity: otherDestinations,
    limit,
    leaseMs,
  });
  const claimed = await runQuery(pool, query);
  queue.add(claimed.deliveries, leasedAtMs, leasedAtMs + PERMIT_MS);
  const isCutOff = claimed.deliveries.length === limit;
  const nowMs = performance.now();
  for (const { destinationId, claimed: count, nextInMs } of claimed.rates) {
    const capacity = byDestination.get(destinationId) ?? otherDestinations;
    if (nextInMs > 0 || isCutOff) rates.expectPermit(destinationId, nowMs + nextInMs);
    else if (count >= capacity) rates.awaitCapacity(destinationId);
  }
}
