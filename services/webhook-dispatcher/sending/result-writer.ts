/** Writes a batch of records in one transaction, and tells the queue what the transaction has changed. */
import type { Database } from '@creditlane/postgres/database';
import { limitLockWaitQuery } from '@creditlane/postgres/lock-wait';
import { runPipeline } from '@creditlane/postgres/pipeline';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { HealthTracker } from '../destinations/destination-health.ts';
import { type DestinationLog, MAX_LOGGED_IDS } from '../destinations/destination-log.ts';
import type { Backlog } from '../queue/backlog.ts';
import type { DeliveryQueue } from '../queue/delivery-queue.ts';
import type { OpenBreakers } from '../queue/open-breakers.ts';
import { insertAnswersQueries } from '../store/attempt-answers.ts';
import { type DisabledDestination, updateHealthQuery } from '../store/destinations.ts';
import { lockReplayedLanesQuery, promoteNextQuery } from '../store/pending/lanes.ts';
import { releaseUntriedQuery } from '../store/pending/leases.ts';
import { recordLateResultsQuery, recordResultsQuery } from '../store/results.ts';
import type { AttemptRecord, AttemptResult } from './attempt.ts';
import type { DeferredResults } from './deferred-results.ts';

/** How soon an untried delivery is due again. */
const UNTRIED_DELAY_MS = 1_000;
/**
 * How long a statement of a batch waits for a lock. All other results wait meanwhile, and a batch of 1,000 with one
 * locked delivery waits some eleven times until that delivery is alone.
 */
const LOCK_WAIT_MS = 250;

export interface ResultWriterDeps {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly destinationLog: DestinationLog;
  readonly leaseMs: number;
  /** How long a delivery that fails, or lacks its content, holds its lane. */
  readonly holdMs: number;
  /** How long a destination may go without a success before it is disabled. */
  readonly disableAfterMs: number;
  /** Gets the promoted deliveries, and drops those of disabled destinations. */
  readonly queue: Pick<DeliveryQueue, 'add' | 'drop'>;
  readonly breakers: Pick<OpenBreakers, 'has'>;
  /** Remembers when deliveries are due. */
  readonly backlog: Pick<Backlog, 'expectDue'>;
  /** Is told in which lanes a delivery was promoted. */
  readonly deferredResults: Pick<DeferredResults, 'updateWaiting'>;
  /** Called when results have found destinations disabled, whose pending deliveries are then to be ended. */
  onDisabled(): void;
}

export class ResultWriter {
  readonly #deps: ResultWriterDeps;
  readonly #health = new HealthTracker();

  constructor(deps: ResultWriterDeps) {
    this.#deps = deps;
  }

  /**
   * Writes the whole batch, except results that are late, which it returns: they are for `writeLate`. Rejects with the
   * database's error if it refuses any part; then nothing is written.
   */
  async write(records: readonly AttemptRecord[]): Promise<readonly AttemptResult[]> {
    const { pool, leaseMs, holdMs, disableAfterMs, queue, deferredResults } = this.#deps;
    const results = records.filter((record) => record.kind === 'tried');
    const untried = records.filter((record) => record.kind === 'untried');
    const tried = results.map(({ delivery }) => delivery);
    const hasReplayed = tried.some(({ replays }) => replays > 0);
    const healthChanges = this.#health.changesAfter(results);
    const leasedAtMs = performance.now();
    // One transaction in one round trip, in the order written here.
    const [, , , recorded = [], disabled = [], promoted = []] = await runPipeline(pool, [
      limitLockWaitQuery(LOCK_WAIT_MS),
      untried.length > 0
        ? releaseUntriedQuery(untried, { delayMs: UNTRIED_DELAY_MS, holdMs })
        : undefined,
      hasReplayed ? lockReplayedLanesQuery(tried) : undefined,
      tried.length > 0 ? recordResultsQuery(results, holdMs) : undefined,
      healthChanges.size > 0 ? updateHealthQuery(healthChanges, disableAfterMs) : undefined,
      // After the health, so that nothing to a destination that has just been disabled is leased.
      tried.length > 0 ? promoteNextQuery(tried, leaseMs) : undefined,
      // Also the answers of late results.
      ...insertAnswersQueries(results),
    ]);
    this.#health.markStored(healthChanges);
    this.#logDisabled(disabled);
    if (disabled.length > 0) {
      queue.drop(disabled.map(({ destinationId }) => destinationId));
      this.#deps.onDisabled();
    }
    if (promoted.length > 0) queue.add(promoted, leasedAtMs);
    const ended = results.filter(({ delayMs }) => delayMs === undefined);
    deferredResults.updateWaiting(
      ended.map(({ delivery }) => delivery),
      promoted,
    );
    this.#expectDue(results, untried.length > 0);
    // A result that is not recorded is late: its delivery is not pending under that lease any more.
    const recordedIds = new Set(recorded.map(({ id }) => id));
    const isRecorded = ({ delivery }: AttemptResult) => recordedIds.has(delivery.id);
    this.#logHeld(results.filter(isRecorded));
    return results.filter((result) => !isRecorded(result));
  }

  /**
   * Writes results that `write` has returned: apart from it, because this looks at several days of ended deliveries. Rejects
   * with the database's error; then none is written.
   */
  async writeLate(results: readonly AttemptResult[]): Promise<void> {
    await runPipeline(this.#deps.pool, [
      limitLockWaitQuery(LOCK_WAIT_MS),
      recordLateResultsQuery(results),
    ]);
  }

  #logDisabled(disabled: readonly DisabledDestination[]): void {
    for (const { destinationId, isNew, ...why } of disabled) {
      const message = 'a webhook destination is disabled';
      if (isNew) this.#deps.destinationLog('warn', destinationId, message, why);
    }
  }

  /** A delivery holds its lane from its first failure. */
  #logHeld(recorded: readonly AttemptResult[]): void {
    const held = recorded.filter((it) => it.state === 'due' && it.delivery.attempts === 0);
    const byDestination = Map.groupBy(held, ({ delivery }) => delivery.destinationId);
    for (const [destinationId, ofDestination] of byDestination) {
      const deliveryIds = ofDestination.slice(0, MAX_LOGGED_IDS).map(({ delivery }) => delivery.id);
      const fields = { lanes: ofDestination.length, deliveryIds };
      const message = 'lanes of a webhook destination are held by webhooks that failed';
      this.#deps.destinationLog('info', destinationId, message, fields);
    }
  }

  #expectDue(results: readonly AttemptResult[], hasUntried: boolean): void {
    const { breakers, backlog, holdMs } = this.#deps;
    // Nothing is claimed for a destination whose circuit breaker is open.
    const claimable = results.filter(({ delivery: it }) => !breakers.has(it.destinationId));
    const delaysMs = claimable.flatMap(({ delayMs }) => delayMs ?? []);
    if (hasUntried || delaysMs.length > 0) backlog.expectDue(holdMs);
    if (hasUntried) backlog.expectDue(UNTRIED_DELAY_MS);
    for (const delayMs of delaysMs) backlog.expectDue(delayMs);
  }
}
