/** Renews the leases of queued deliveries, and releases those of deliveries that this process will not send. */
import type { Database } from '@creditlane/postgres/database';
import { runQuery } from '@creditlane/postgres/statement';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { releaseLeasesQuery, renewLeasesQuery } from '../store/deliveries.ts';
import type { LeasedDelivery } from './delivery.ts';
import type { DeliveryQueue } from './delivery-queue.ts';

export interface LeaseOptions {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly leaseMs: number;
}

/** Leases are renewed so often that they last when the database is unavailable for three fifths of a lease. */
const RENEWALS_PER_LEASE = 5;

export class LeaseRenewal {
  readonly #options: LeaseOptions & { readonly queue: DeliveryQueue };
  readonly #timer: NodeJS.Timeout;
  #renewing: Promise<void> = Promise.resolve();

  constructor(options: LeaseOptions & { readonly queue: DeliveryQueue }) {
    this.#options = options;
    this.#timer = setInterval(() => {
      this.#renewing = this.#renew();
    }, options.leaseMs / RENEWALS_PER_LEASE);
  }

  /** Resolves after the renewal under way. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing;
  }

  async #renew(): Promise<void> {
    const { pool, log, queue, leaseMs } = this.#options;
    const nowMs = performance.now();
    const expiring = queue.expiringBefore(nowMs + leaseMs - leaseMs / RENEWALS_PER_LEASE);
    if (expiring.length === 0) return;
    const deliveries = expiring.map(({ delivery }) => delivery);
    try {
      const renewed = await runQuery(pool, renewLeasesQuery(deliveries, leaseMs));
      for (const [n, entry] of expiring.entries()) {
        // A delivery that was leased anew in the meantime has a lease that this answer is not about.
        if (entry.delivery !== deliveries[n]) continue;
        // Without a lease a delivery that has not been sent yet is not sent by this process.
        entry.leasedUntilMs = renewed.has(entry.delivery.id) ? nowMs + leaseMs : 0;
      }
    } catch (err) {
      // The leases end by themselves, and a delivery without a lease is not sent.
      log.warn({ err, deliveries: deliveries.length }, 'leases could not be renewed');
    }
  }
}

/** Makes deliveries due for any process at once. When the database is unavailable, their leases just end. */
export async function releaseLeases(
  { pool, log }: Pick<LeaseOptions, 'pool' | 'log'>,
  deliveries: readonly LeasedDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return;
  await runQuery(pool, releaseLeasesQuery(deliveries, 0)).catch((err: unknown) => {
    log.warn({ err, deliveries: deliveries.length }, 'leases could not be released');
  });
}
