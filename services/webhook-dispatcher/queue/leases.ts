/** Renews the leases of queued deliveries, and releases those of deliveries that this process will not send. */
import { runQuery } from '@creditlane/postgres/statement';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import { releaseLeasesQuery, renewLeasesQuery } from '../store/pending/leases.ts';
import type { LeasedDelivery } from './delivery.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { QueueEntry } from './destination-queue.ts';
import { ExpiredLeases, type ExpiredLeasesDeps } from './expired-leases.ts';

export interface LeaseDeps extends ExpiredLeasesDeps {
  readonly queue: Pick<DeliveryQueue, 'expiringBefore' | 'size'>;
}

/** Often enough that no lease ends while the database is unavailable for three fifths of a lease. */
const RENEWALS_PER_LEASE = 5;
/**
 * Leases that one statement renews. A process whose receivers hang has many: 745 in one statement took 84 ms, for which the
 * results of these deliveries waited for their rows.
 */
const MAX_RENEWED = 100;

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
