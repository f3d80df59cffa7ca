/** Writes a batch of records in one transaction, and tells the queue what the transaction has changed. */
import type { Database } from '@creditlane/postgres/database';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { HealthTracker } from '../destinations/destination-health.ts';
import type { UntriedDelivery } from '../queue/delivery.ts';
import type { DeliveryQueue } from '../queue/delivery-queue.ts';
import type { AttemptResult } from './attempt.ts';
import type { DeferredResults } from './deferred-results.ts';
import {
  type ResultLimits,
  recordBatch,
  recordLate,
  UNTRIED_DELAY_MS,
} from './results-transaction.ts';

export interface ResultWriterOptions extends ResultLimits {
  readonly pool: Database['pool'];
  readonly log: Log;
  /** Gets the promoted deliveries, drops those of disabled destinations, and remembers when others are due. */
  readonly queue: Pick<DeliveryQueue, 'add' | 'drop'> & {
    readonly backlog: Pick<DeliveryQueue['backlog'], 'expectDue'>;
    readonly breakers: Pick<DeliveryQueue['breakers'], 'has'>;
  };
  /** Is told in which lanes a delivery was promoted. */
  readonly deferredResults: Pick<DeferredResults, 'updateWaiting'>;
  /** Called when results have found destinations disabled, whose pending deliveries are then to be ended. */
  onDisabled(): void;
}

/** What is recorded of a delivery that was taken to be sent: the result of its attempt, or that it could not be tried. */
export type DeliveryRecord =
  | { readonly result: AttemptResult }
  | { readonly untried: UntriedDelivery };

export class ResultWriter {
  readonly #options: ResultWriterOptions;
  readonly #health = new HealthTracker();

  constructor(options: ResultWriterOptions) {
    this.#options = options;
  }

  /**
   * Writes the whole batch, except results that are late, which it returns: they are for `writeLate`. Rejects with the
   * database's error if it refuses any part; then nothing is written.
   */
  async write(records: readonly DeliveryRecord[]): Promise<readonly AttemptResult[]> {
    const { pool, log, queue, deferredResults } = this.#options;
    const results = records.flatMap((record) => ('result' in record ? [record.result] : []));
    const untried = records.flatMap((record) => ('untried' in record ? [record.untried] : []));
    const healthChanges = this.#health.changesAfter(results);
    const leasedAtMs = performance.now();
    const batch = { results, untried, healthChanges };
    const { disabled, promoted, late } = await recordBatch(pool, batch, this.#options);
    this.#health.markStored(healthChanges);
    for (const { isNew, ...destination } of disabled) {
      if (isNew) log.warn(destination, 'a webhook destination is disabled');
    }
    if (disabled.length > 0) {
      queue.drop(disabled.map(({ destinationId }) => destinationId));
      this.#options.onDisabled();
    }
    if (promoted.length > 0) queue.add(promoted, leasedAtMs);
    const ended = results.filter(({ delayMs }) => delayMs === undefined);
    deferredResults.updateWaiting(
      ended.map(({ delivery }) => delivery),
      promoted,
    );
    this.#expectDue(results, untried.length > 0);
    return late;
  }

  /** Writes results that `write` has returned. Rejects with the database's error; then none is written. */
  async writeLate(results: readonly AttemptResult[]): Promise<void> {
    await recordLate(this.#options.pool, results);
  }

  #expectDue(results: readonly AttemptResult[], hasUntried: boolean): void {
    const { queue, holdMs } = this.#options;
    // Nothing is claimed for a destination whose circuit breaker is open.
    const claimable = results.filter(({ delivery: it }) => !queue.breakers.has(it.destinationId));
    const delaysMs = claimable.flatMap(({ delayMs }) => delayMs ?? []);
    if (hasUntried || delaysMs.length > 0) queue.backlog.expectDue(holdMs);
    if (hasUntried) queue.backlog.expectDue(UNTRIED_DELAY_MS);
    for (const delayMs of delaysMs) queue.backlog.expectDue(delayMs);
  }
}
