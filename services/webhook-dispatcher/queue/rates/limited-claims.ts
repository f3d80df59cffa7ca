/**
 * Claims the due deliveries to destinations with a rate limit, as many as the rate allows all replicas together. These claims are apart
 * from all others, in which what waits for its rate would take the places of other deliveries. While no destination has a limit,
 * the database is asked nothing.
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
  type DestinationRate,
  PERMIT_MS,
  removeRatesQuery,
  saveRatesQuery,
} from '../../store/rates.ts';
import type { Backlog, ClaimCapacity } from '../backlog.ts';
import type { DeliveryQueue } from '../delivery-queue.ts';
import type { DestinationRates } from './destination-rates.ts';

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
 * Between two claims for all limited destinations, also for those of which this process knows no due delivery. So a delivery that another
 * process has planned, or whose next attempt is due, is claimed a second late at most.
 */
const ALL_EVERY_MS = 1_000;
const MAX_CLAIMED = 1_000;

export interface LimitedClaims extends Pick<PeriodicTask, 'close'> {
  /** How long ago a claim last succeeded, or the first limit became known; 0 while no destination has a limit. */
  readonly claimAgeMs: number;
}

/** Writes what the attempts of this process have found of rate limits, and claims for limited destinations, until closed. */
export function startLimitedClaims(deps: LimitedClaimsDeps): LimitedClaims {
  const { log, rates } = deps;
  let claimedMs = Number.NEGATIVE_INFINITY;
  let allClaimedMs = Number.NEGATIVE_INFINITY;
  /** Undefined while no destination has a limit. */
  let succeededMs: number | undefined;
  const task = startPeriodicTask(ALL_EVERY_MS, async (stop) => {
    if (rates.isEmpty) {
      succeededMs = undefined;
      return Infinity;
    }
    succeededMs ??= performance.now();
    await pause(Math.max(0, claimedMs + MIN_PAUSE_MS - performance.now()), stop);
    if (stop.aborted) return 0;
    claimedMs = performance.now();
    const claimsAll = claimedMs - allClaimedMs >= ALL_EVERY_MS;
    if (claimsAll) allClaimedMs = claimedMs;
    const destinationIds = claimsAll ? rates.takeAll() : rates.takeClaimable(claimedMs);
    try {
      await writeChanges(deps);
      await claim(deps, destinationIds);
      succeededMs = performance.now();
    } catch (err) {
      // The next claim for all limited destinations repeats both.
      log.warn({ err }, 'due deliveries to destinations with a rate limit cannot be claimed');
    }
    const nowMs = performance.now();
    return Math.min(rates.nextClaimInMs(nowMs), allClaimedMs + ALL_EVERY_MS - nowMs);
  });
  rates.onWork = task.wake;
  return {
    close: task.close,
    get claimAgeMs() {
      return succeededMs === undefined ? 0 : performance.now() - succeededMs;
    },
  };
}

async function writeChanges({ pool, rates, backlog }: LimitedClaimsDeps): Promise<void> {
  const changes = rates.unwritten();
  const saved: DestinationRate[] = [];
  const removed = new Map<string, number>();
  for (const [destinationId, { revision, perSecond }] of changes) {
    if (perSecond === undefined) removed.set(destinationId, revision);
    else saved.push({ destinationId, revision, perSecond });
  }
  if (saved.length > 0) await runQuery(pool, saveRatesQuery(saved));
  if (removed.size > 0) await runQuery(pool, removeRatesQuery(removed));
  rates.markWritten(changes);
  if (removed.size > 0) backlog.add(removed.keys());
}

async function claim(
  { pool, queue, rates, leaseMs }: LimitedClaimsDeps,
  destinationIds: readonly string[],
): Promise<void> {
  const capacity = queue.limitedCapacity();
  const limit = Math.min(capacity.total, MAX_CLAIMED);
  if (destinationIds.length === 0) return;
  // Looked at again after MIN_PAUSE_MS, which costs no statement: no signal tells when the queue has capacity.
  if (limit === 0) return rates.addClaimable(destinationIds);
  const leasedAtMs = performance.now();
  const query = claimLimitedQuery({
    destinationIds,
    capacities: capacity.byDestination,
    otherCapacity: capacity.otherDestinations,
    limit,
    leaseMs,
  });
  const claimed = await runQuery(pool, query);
  queue.add(claimed.deliveries, leasedAtMs, leasedAtMs + PERMIT_MS);
  const isCutOff = claimed.deliveries.length === limit;
  // What became free during the claim is not signalled again.
  const capacityLeft = queue.limitedCapacity();
  const nowMs = performance.now();
  for (const { destinationId, claimed: count, nextInMs } of claimed.rates) {
    if (nextInMs > 0 || isCutOff) rates.expectPermit(destinationId, nowMs + nextInMs);
    else if (count < capacityOf(capacity, destinationId)) continue;
    else if (capacityOf(capacityLeft, destinationId) > 0) rates.addClaimable([destinationId]);
    else rates.awaitCapacity(destinationId);
  }
}

const capacityOf = ({ byDestination, otherDestinations }: ClaimCapacity, id: string): number =>
  byDestination.get(id) ?? otherDestinations;
