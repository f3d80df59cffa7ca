/** Ends the leases that have expired, of any process: such as those of one that died. */
import type { Database } from '@creditlane/postgres/database';
import { runPipeline } from '@creditlane/postgres/pipeline';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { endExpiredLeasesQuery, hasLeasesQuery } from '../store/pending/leases.ts';
import type { Backlog } from './backlog.ts';
import type { DeliveryQueue } from './delivery-queue.ts';

export interface ExpiredLeasesDeps {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly queue: Pick<DeliveryQueue, 'size'>;
  readonly backlog: Pick<Backlog, 'add'>;
  readonly leaseMs: number;
}

/**
 * Each check finds the leases that expired within EXPIRED_WITHIN_MS; one check in CHECK_ALL_EVERY_MS finds those of any age. While an
 * old snapshot is open, the index keeps an entry for every lease since then, and a check without this bound would read them all.
 */
const EXPIRED_WITHIN_MS = 15_000;
const CHECK_ALL_EVERY_MS = 60_000;
const ANY_TIME_MS = 1e12;
const MAX_EXPIRED = 1_000;

export class ExpiredLeases {
  readonly #deps: ExpiredLeasesDeps;
  #allCheckedMs = Number.NEGATIVE_INFINITY;
  /** By performance.now(). No lease expires before this time, so that none is checked. */
  #nextCheckMs = 0;

  constructor(deps: ExpiredLeasesDeps) {
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
