/** Claims due deliveries from the database whenever the queue has capacity for them. */
import type { Database } from '@creditlane/postgres/database';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { runQuery } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { claimDueQuery } from '../store/pending/claims.ts';
import {
  endExpiredHoldsQuery,
  hasExpiredHoldsQuery,
  promoteNextQuery,
} from '../store/pending/lanes.ts';
import type { Backlog } from './backlog.ts';
import type { DeliveryQueue } from './delivery-queue.ts';

export interface ClaimerDeps {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly queue: DeliveryQueue;
  readonly backlog: Backlog;
  readonly leaseMs: number;
}

/**
 * Between two claims while no backlog is known. This is also the longest delay of a delivery that another process has planned,
 * that this process has planned for more than a minute ahead, that became due while its destination had no capacity, or whose
 * claim failed.
 */
const IDLE_POLL_MS = 2_000;
/** Between two claims while a destination may have a backlog. */
const BACKLOG_POLL_MS = 250;
/** Between two attempts at a claim while the queue has no capacity left. */
const FULL_POLL_MS = 250;
/** The least time between two checks for expired holds while none is expected to have ended. */
const HOLD_CHECK_MS = 250;
const MAX_CLAIMED = 1_000;
const MAX_HOLDS_ENDED = 500;

/**
 * How long the claimer waits after a claim that has brought all, unless it is woken. `wasFull`: the queue had no capacity left
 * for the claim. `nextDueInMs`: when the next expected delivery is due.
 */
export function claimPauseMs({
  wasFull,
  isBacklogEmpty,
  nextDueInMs,
}: {
  wasFull: boolean;
  isBacklogEmpty: boolean;
  nextDueInMs: number;
}): number {
  if (wasFull) return FULL_POLL_MS;
  return Math.min(isBacklogEmpty ? IDLE_POLL_MS : BACKLOG_POLL_MS, nextDueInMs);
}

export class Claimer {
  readonly #deps: ClaimerDeps;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** Whether the queue had no capacity left when a claim was to be made: then any destination may have a backlog. */
  #wasFull = false;
  /** Runs beside the claims, because it may wait for the lock of a delivery. */
  #endingHolds: Promise<void> | undefined;
  /** Whether a check for expired holds was due while others were being ended. */
  #missedHoldCheck = false;
  /** When a claim last succeeded, or had no capacity to claim for, by performance.now(). */
  #claimedMs = performance.now();

  constructor(deps: ClaimerDeps) {
    this.#deps = deps;
    this.#running = this.#run();
  }

  /** How long ago a claim last succeeded, or had no capacity to claim for: some seconds while claims succeed. */
  get claimAgeMs(): number {
    return performance.now() - this.#claimedMs;
  }

  /** Resolves once nothing more is claimed. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#endingHolds;
  }

  async #run(): Promise<void> {
    const { log, backlog } = this.#deps;
    let checkedMs = Number.NEGATIVE_INFINITY;
    while (!this.#stop.signal.aborted) {
      const nowMs = performance.now();
      const isHoldCheckDue = nowMs - checkedMs >= HOLD_CHECK_MS || backlog.nextDueInMs(nowMs) === 0;
      const checksHolds = isHoldCheckDue && this.#endingHolds === undefined;
      if (isHoldCheckDue && !checksHolds) this.#missedHoldCheck = true;
      let isMoreDue = false;
      try {
        isMoreDue = await this.#claim(checksHolds);
        this.#claimedMs = performance.now();
        if (checksHolds) checkedMs = nowMs;
      } catch (err) {
        log.warn({ err }, 'due deliveries cannot be claimed');
      }
      // What became due while the claim was under way was not claimed, and is remembered. What was due before a claim that
      // failed is forgotten, too: otherwise the claim would be repeated without a pause.
      backlog.forgetDue(nowMs);
      if (isMoreDue) continue;
      const pauseMs = claimPauseMs({
        wasFull: this.#wasFull,
        isBacklogEmpty: backlog.isEmpty,
        nextDueInMs: backlog.nextDueInMs(performance.now()),
      });
      await backlog.claimable.wait(pauseMs, this.#stop.signal);
    }
  }

  /**
   * Claims as many deliveries as there is capacity for; true when another claim may bring more at once. The check for
   * expired holds is in the same round trip: when one of the two is refused, both are, and both are repeated.
   */
  async #claim(checksHolds: boolean): Promise<boolean> {
    const { pool, queue, backlog, leaseMs } = this.#deps;
    const capacity = queue.claimCapacity();
    const limit = Math.min(capacity.total, MAX_CLAIMED);
    this.#wasFull = limit === 0;
    if (this.#wasFull && !checksHolds) return false;
    const leasedAtMs = performance.now();
    const wasCutOff = backlog.isCutOff;
    const claim = claimDueQuery({
      after: backlog.cursor,
      capacities: capacity.byDestination,
      otherCapacity: capacity.otherDestinations,
      limit,
      leaseMs,
    });
    const [hasExpiredHolds, claimed] = await runPipeline(pool, [
      checksHolds ? hasExpiredHoldsQuery() : undefined,
      this.#wasFull ? undefined : claim,
    ]);
    if (hasExpiredHolds) this.#endingHolds = this.#endExpiredHolds();
    if (claimed === undefined) return false;
    const cutOff = claimed.length === limit;
    backlog.update(claimed, capacity, cutOff);
    queue.add(claimed, leasedAtMs);
    // A claim that continued after the cursor has not seen the destinations before the cursor.
    return cutOff || wasCutOff;
  }

  /**
   * Releases the lanes of deliveries that have failed, or lacked their content, for the whole hold. Never rejects: due deliveries are
   * claimed even if a hold cannot be ended.
   */
  async #endExpiredHolds(): Promise<void> {
    const { pool, log, queue, backlog, leaseMs } = this.#deps;
    const leasedAtMs = performance.now();
    let isCutOff = false;
    try {
      const promoted = await inTransaction(pool, async (tx) => {
        const lanes = await runQuery(tx, endExpiredHoldsQuery(MAX_HOLDS_ENDED));
        isCutOff = lanes.length === MAX_HOLDS_ENDED;
        return lanes.length > 0 ? runQuery(tx, promoteNextQuery(lanes, leaseMs)) : [];
      });
      queue.add(promoted, leasedAtMs);
    } catch (err) {
      log.warn({ err }, 'expired holds cannot be ended');
    } finally {
      this.#endingHolds = undefined;
      if (isCutOff || this.#missedHoldCheck) backlog.expectDue(0);
      this.#missedHoldCheck = false;
    }
  }
}
