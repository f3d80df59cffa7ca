/** Records results in batches: a batch is the results that arrived while the previous batch was being written. */
import type { Database } from '@creditlane/postgres/database';
import { isStatementTimeout, isTransientError } from '@creditlane/postgres/error-classes';
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { Batcher } from '@creditlane/runtime/concurrency/batcher';
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { HealthTracker } from '../destinations/destination-health.ts';
import type { LeasedDelivery } from '../queue/delivery.ts';
import type { DeliveryQueue } from '../queue/delivery-queue.ts';
import type { AttemptResult } from './attempt.ts';
import type { DeferredResults } from './deferred-results.ts';
import {
  type ResultLimits,
  recordBatch,
  recordLate,
  UNTRIED_DELAY_MS,
} from './results-transaction.ts';

export interface ResultRecorderOptions extends ResultLimits {
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
  | { readonly untried: LeasedDelivery };

/** A record, or a result that the transaction of its record has found to be late. No transaction writes both. */
type Part = DeliveryRecord | { readonly late: AttemptResult };

/** A record that is lost is done, too. A blocked one takes longer than a statement may, alone in its transaction. */
type Ending = 'done' | 'blocked';

const MAX_BATCH = 1_000;
/** How often the write of a single result that the database refuses is tried. */
const MAX_TRIES = 5;
/** How many deliveries a log line about lost results names. */
const MAX_LOGGED_IDS = 20;
const RETRY_BACKOFF = { baseMs: 50, capMs: 2_000 };

export class ResultRecorder {
  readonly #options: ResultRecorderOptions;
  readonly #health = new HealthTracker();
  readonly #stop = new AbortController();
  readonly #batches: Batcher<DeliveryRecord, Ending>;
  /** Writes blocked records again, apart from all others, which do not wait for them. */
  readonly #blocked: Batcher<DeliveryRecord, Ending>;
  /** The calls of `record` whose records are blocked. */
  readonly #recordings = new Set<Promise<void>>();

  constructor(options: ResultRecorderOptions) {
    this.#options = options;
    const write = (records: readonly DeliveryRecord[]) => this.#writeWithRetries(records);
    this.#batches = new Batcher(write, { maxConcurrent: 1, maxItems: MAX_BATCH });
    this.#blocked = new Batcher(write, { maxConcurrent: 1, maxItems: 1 });
  }

  /**
   * Resolves once the record is written, or lost after the retries: then the delivery is due again when
   * its lease ends.
   */
  async record(record: DeliveryRecord): Promise<void> {
    if ((await this.#batches.add(record)) === 'done') return;
    const recording = this.#recordBlocked(record);
    this.#recordings.add(recording);
    await recording;
    this.#recordings.delete(recording);
  }

  /** Writes the remaining records, without retries. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#batches.settled();
    await Promise.all(this.#recordings);
  }

  async #recordBlocked(record: DeliveryRecord): Promise<void> {
    const deliveryId = deliveryOf(record).id;
    let ending: Ending = 'blocked';
    for (let attempt = 1; ending === 'blocked'; attempt += 1) {
      this.#options.log.warn({ deliveryId, attempt }, 'the result of a webhook waits for a lock');
      await new WakeSignal().wait(backoffMs(attempt, RETRY_BACKOFF), this.#stop.signal);
      ending = await this.#blocked.add(record);
    }
  }

  /**
   * A transient error is retried until the recorder is closed. A batch that the database refuses, or that takes
   * longer than a statement may, is split in halves until the record that causes it is alone, so that the others
   * are written. A record that is refused is lost after `MAX_TRIES`; one that takes too long is blocked.
   */
  async #writeWithRetries(parts: readonly Part[]): Promise<Ending[]> {
    const { log } = this.#options;
    let late: readonly AttemptResult[];
    for (let attempt = 1; ; attempt += 1) {
      try {
        late = await this.#write(parts);
        break;
      } catch (err) {
        const refused = !isTransientError(err);
        const timedOut = isStatementTimeout(err);
        if ((refused || timedOut) && parts.length > 1) {
          const middle = parts.length >> 1;
          const first = await this.#writeWithRetries(parts.slice(0, middle));
          return [...first, ...(await this.#writeWithRetries(parts.slice(middle)))];
        }
        if (timedOut && !this.#stop.signal.aborted) return ['blocked'];
        if (this.#stop.signal.aborted || (refused && attempt === MAX_TRIES)) {
          const deliveryIds = parts.slice(0, MAX_LOGGED_IDS).map((part) => deliveryOf(part).id);
          const lost = { err, deliveries: parts.length, deliveryIds };
          log.error(lost, 'results of webhooks are lost');
          return parts.map(() => 'done');
        }
        log.warn({ err, attempt }, 'results of webhooks cannot be written');
        await new WakeSignal().wait(backoffMs(attempt, RETRY_BACKOFF), this.#stop.signal);
      }
    }
    if (late.length === 0) return parts.map(() => 'done');
    const endings = await this.#writeWithRetries(late.map((it) => ({ late: it })));
    const isBlocked = (id: string) =>
      late.some(({ delivery }, n) => delivery.id === id && endings[n] === 'blocked');
    return parts.map((part) => (isBlocked(deliveryOf(part).id) ? 'blocked' : 'done'));
  }

  /** Returns the results that are late, which are to be written on their own. */
  async #write(parts: readonly Part[]): Promise<readonly AttemptResult[]> {
    const { pool, log, queue, deferredResults } = this.#options;
    const foundLate = parts.flatMap((part) => ('late' in part ? [part.late] : []));
    if (foundLate.length > 0) {
      await recordLate(pool, foundLate);
      return [];
    }
    const results = parts.flatMap((part) => ('result' in part ? [part.result] : []));
    const untried = parts.flatMap((part) => ('untried' in part ? [part.untried] : []));
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

  #expectDue(results: readonly AttemptResult[], hasUntried: boolean): void {
    const { queue, holdMs } = this.#options;
    // Nothing is claimed for a destination whose circuit breaker is open.
    const claimable = results.filter(({ delivery: it }) => !queue.breakers.has(it.destinationId));
    const delaysMs = claimable.flatMap(({ delayMs }) => delayMs ?? []);
    if (delaysMs.length > 0) queue.backlog.expectDue(holdMs);
    if (hasUntried) queue.backlog.expectDue(UNTRIED_DELAY_MS);
    for (const delayMs of delaysMs) queue.backlog.expectDue(delayMs);
  }
}

function deliveryOf(part: Part): LeasedDelivery {
  if ('late' in part) return part.late.delivery;
  return 'result' in part ? part.result.delivery : part.untried;
}
