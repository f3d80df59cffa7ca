/**
 * Renews the leases of queued deliveries, releases those of deliveries that this process will not send, and ends expired
 * leases, such as those of a process that died.
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

export interface LeaseOptions {
  readonly pool: Database['pool'];
  readonly log: Log;
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
 * Each look finds the leases that expired within EXPIRED_WITHIN_MS; one look in LOOK_BACK_EVERY_MS finds those of any age. While an
 * old snapshot is open, the index keeps an entry for every lease since then, and a look without this bound would read them all.
 */
const EXPIRED_WITHIN_MS = 15_000;
const LOOK_BACK_EVERY_MS = 60_000;
const ANY_TIME_MS = 1e12;
const MAX_EXPIRED = 1_000;

export interface LeaseRenewalOptions extends LeaseOptions {
  readonly queue: DeliveryQueue;
  readonly backlog: Pick<Backlog, 'add'>;
}

export class LeaseRenewal {
  readonly #options: LeaseRenewalOptions;
  readonly #task: PeriodicTask;
  #lookedBackMs = Number.NEGATIVE_INFINITY;
  /** By performance.now(). No lease expires before this time, so that none is looked for. */
  #nextLookMs = 0;

  constructor(options: LeaseRenewalOptions) {
    this.#options = options;
    const pauseMs = options.leaseMs / RENEWALS_PER_LEASE;
    const renewAndEnd = async () => {
      await this.#renew();
      await this.#endExpired();
    };
    this.#task = startPeriodicTask(pauseMs, renewAndEnd, pauseMs);
  }

  /** Resolves after the renewal under way. */
  close(): Promise<void> {
    return this.#task.close();
  }

  async #renew(): Promise<void> {
    const { log, queue, leaseMs } = this.#options;
    const expiring = queue.expiringBefore(
      performance.now() + leaseMs - leaseMs / RENEWALS_PER_LEASE,
    );
    try {
      for (let at = 0; at < expiring.length; at += MAX_RENEWED) {
        await this.#renewTogether(expiring.slice(at, at + MAX_RENEWED));
      }
    } catch (err) {
      // The leases end by themselves, and a delivery without a lease is not sent.
      log.warn({ err, deliveries: expiring.length }, 'leases could not be renewed');
    }
  }

  async #renewTogether(entries: readonly QueueEntry[]): Promise<void> {
    const { pool, leaseMs } = this.#options;
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

  async #endExpired(): Promise<void> {
    const { pool, log, queue, backlog, leaseMs } = this.#options;
    const nowMs = performance.now();
    if (nowMs < this.#nextLookMs) return;
    const looksBack = nowMs - this.#lookedBackMs >= LOOK_BACK_EVERY_MS;
    try {
      const withinMs = looksBack ? ANY_TIME_MS : EXPIRED_WITHIN_MS;
      const [{ count, destinationIds }, isAnyLeft = true] = await runPipeline(pool, [
        endExpiredLeasesQuery(withinMs, MAX_EXPIRED),
        // The queued deliveries are leased.
        queue.size > 0 ? undefined : hasLeasesQuery(withinMs),
      ]);
      // A lease that begins after this look lasts `leaseMs`. One whose transaction is under way is not seen, and may be found
      // later by the time since that transaction began.
      if (!isAnyLeft) this.#nextLookMs = nowMs + leaseMs;
      // A look back that reached the limit has left leases of any age, which only the next look back finds.
      if (looksBack && count < MAX_EXPIRED) this.#lookedBackMs = nowMs;
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
  { pool, log }: Pick<LeaseOptions, 'pool' | 'log'>,
  deliveries: readonly LeasedDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return;
  await runQuery(pool, releaseLeasesQuery(deliveries)).catch((err: unknown) => {
    log.warn({ err, deliveries: deliveries.length }, 'leases could not be released');
  });
}
