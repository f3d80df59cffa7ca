/**
 * Renews the leases of queued deliveries, releases those of deliveries that this process will not send, and ends those that
 * have expired, of any process: such as those of one that died.
 */
import type { Database } from '@creditlane/postgres/database';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { runQuery } from '@creditlane/postgres/statement';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import {
  endExpiredLeasesQuery,
  hasLeasesQuery,
  releaseLeasesQuery,
  renewLeasesQuery,
} from '../store/pending/leases.ts';
import type { Backlog } from './backlog.ts';
import type { LeasedDelivery } from './delivery.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { QueueEntry } from './destination-queue.ts';

export interface LeaseDeps {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly queue: Pick<DeliveryQueue, 'expiringBefore' | 'size'>;
  readonly backlog: Pick<Backlog, 'add'>;
  readonly leaseMs: number;
}

/** Often enough that no lease ends while the database is unavailable for three fifths of a lease. */
const RENEWALS_PER_LEASE = 5;
/**
 * Leases that one statement renews. A process whose receivers hang has many: 745 in one statement took 84 ms, for which the
 * results of these deliveries waited for their rows.
 */
const MAX_RENEWED = 100;
/**
 * Each check finds the leases that expired within EXPIRED_WITHIN_MS; one check in CHECK_ALL_EVERY_MS finds those of any age. While an
 * old snapshot is open, the index keeps an entry for every lease since then, and a check without this bound would read them all.
 */
const EXPIRED_WITHIN_MS = 15_000;
const CHECK_ALL_EVERY_MS = 60_000;
const ANY_TIME_MS = 1e12;
const MAX_EXPIRED = 1_000;

/**
 * Until closed, renews the leases of this process, and then ends those that have expired: in this order, so that after an outage of
 * the database this process keeps the deliveries that no other one has claimed.
 */
export function startMaintainingLeases(deps: LeaseDeps): PeriodicTask {
  const expired = new ExpiredLeases(deps);
  const renewAndEnd = async () => {
    await renewExpiring(deps);
    await expired.end();
  };
  const pauseMs = deps.leaseMs / RENEWALS_PER_LEASE;
  return startPeriodicTask(pauseMs, renewAndEnd, { pauseFirst: true });
}

async function renewExpiring(deps: LeaseDeps): Promise<void> {
  const { log, queue, leaseMs } = deps;
  const expiring = queue.expiringBefore(performance.now() + leaseMs - leaseMs / RENEWALS_PER_LEASE);
  try {
    for (let at = 0; at < expiring.length; at += MAX_RENEWED) {
      await renewTogether(deps, expiring.slice(at, at + MAX_RENEWED));
    }
  } catch (err) {
    // The leases end by themselves, and a delivery without a lease is not sent.
    log.warn({ err, deliveries: expiring.length }, 'leases could not be renewed');
  }
}

async function renewTogether(
  { pool, leaseMs }: LeaseDeps,
  entries: readonly QueueEntry[],
): Promise<void> {
  const nowMs = performance.now();
  const deliveries = entries.map(({ delivery }) => delivery);
  const renewed = await runQuery(pool, renewLeasesQuery(deliveries, leaseMs));
  for (const [n, entry] of entries.entries()) {
    // The delivery was leased again after the query was sent: the answer is about its earlier lease.
    if (entry.delivery !== deliveries[n]) continue;
    const isRenewed = renewed.get(entry.delivery.id);
    // The lease is lost: if the delivery has not been sent yet, this process will not send it.
    if (isRenewed === undefined) entry.leasedUntilMs = 0;
    else if (isRenewed) entry.leasedUntilMs = nowMs + leaseMs;
  }
}

/** Ends the leases that have expired. */
class ExpiredLeases {
  readonly #deps: LeaseDeps;
  #allCheckedMs = Number.NEGATIVE_INFINITY;
  /** By performance.now(). No lease expires before this time, so that none is checked. */
  #nextCheckMs = 0;

  constructor(deps: LeaseDeps) {
    this.#deps = deps;
  }

  /** Ends those that have expired since the last check, unless none can have. Never rejects. */
  async end(): Promise<void> {
    const { pool, log, queue, backlog, leaseMs } = this.#deps;
    const nowMs = performance.now();
    if (nowMs < this.#nextCheckMs) return;
    const checksAll = nowMs - this.#allCheckedMs >= CHECK_ALL_EVERY_MS;
    try {
      const withinMs = checksAll ? ANY_TIME_MS : EXPIRED_WITHIN_MS;
      const [{ count, destinationIds }, isAnyLeft = true] = await runPipeline(pool, [
        endExpiredLeasesQuery(withinMs, MAX_EXPIRED),
        // The queued deliveries are leased.
        queue.size > 0 ? undefined : hasLeasesQuery(withinMs),
      ]);
      // A lease that begins after this check lasts `leaseMs`. One whose transaction is under way is not seen, and may be found
      // later by the time since that transaction began.
      if (!isAnyLeft) this.#nextCheckMs = nowMs + leaseMs;
      // A check of all that reached the limit has left leases of any age, which only the next check of all finds.
      if (checksAll && count < MAX_EXPIRED) this.#allCheckedMs = nowMs;
      if (destinationIds.length > 0) backlog.add(destinationIds);
    } catch (err) {
      log.warn({ err }, 'expired leases could not be ended');
    }
  }
}

/**
 * Releases leases, so that any process may claim the deliveries at once. Never rejects: when the database
 * is unavailable, the leases end by themselves.
 */
export async function releaseLeases(
  { pool, log }: Pick<LeaseDeps, 'pool' | 'log'>,
  deliveries: readonly LeasedDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return;
  await runQuery(pool, releaseLeasesQuery(deliveries)).catch((err: unknown) => {
    log.warn({ err, deliveries: deliveries.length }, 'leases could not be released');
  });
}
