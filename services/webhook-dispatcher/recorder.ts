/** Writes results down, in batches of whatever has gathered while the last batch was under way. */
import type { Database } from '@creditlane/postgres/database';
import { isOutage } from '@creditlane/postgres/outage';
import { inTransaction } from '@creditlane/postgres/transaction';
import { backoffMs } from '@creditlane/runtime/backoff';
import type { Log } from '@creditlane/runtime/log';
import { Wake } from '@creditlane/runtime/wake';
import { LRUCache } from 'lru-cache';
import type { AttemptResult, Delivery } from './delivery.ts';
import { disableDestinations, noteDestinationHealth, recordResults } from './result-store.ts';
import { promoteNext, releaseLeases } from './store.ts';

export interface RecorderOptions {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly leaseMs: number;
  /** How long a failing delivery holds back those behind it. */
  readonly holdMs: number;
  /** How long a destination may go without a success. */
  readonly patienceMs: number;
  /** Takes the deliveries that may go next; they are leased since `leasedAtMs`. */
  onPromoted(deliveries: readonly Delivery[], leasedAtMs: number): void;
  /** Hears of destinations that get nothing more. */
  onDisabled(destinationIds: readonly string[]): void;
}

/** A result, or a delivery given back untried. */
type Entry = { readonly result: AttemptResult } | { readonly untried: Delivery };

const MAX_BATCH = 1_000;
const TRIES = 5;
const RETRY = { baseMs: 50, capMs: 2_000 };
/** How soon an untried delivery is due again. */
const UNTRIED_PAUSE_MS = 1_000;
/** How often a destination that stays as it is is noted again. */
const HEALTH_EVERY_MS = 60_000;

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #health = new LRUCache<string, boolean>({ max: 10_000, ttl: HEALTH_EVERY_MS });
  readonly #stop = new AbortController();
  #gathered: { entry: Entry; done: () => void }[] = [];
  #writing: Promise<void> | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /**
   * Resolves once it is written, or given up: then nobody holds the delivery any more, and it is due
   * again when its lease ends.
   */
  record(entry: Entry): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gathered.push({ entry, done: resolve });
    this.#writing ??= this.#write();
    return promise;
  }

  /** Writes what has gathered, without insisting. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#writing;
  }

  async #write(): Promise<void> {
    // Whatever ends in this turn of the event loop goes together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#gathered.length > 0) {
      const batch = this.#gathered.splice(0, MAX_BATCH);
      await this.#insist(batch.map(({ entry }) => entry));
      for (const { done } of batch) done();
    }
    this.#writing = undefined;
  }

  /** An outage is waited out; what the database refuses time and again is given up. */
  async #insist(entries: readonly Entry[]): Promise<void> {
    const { log } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#writeBatch(entries);
      } catch (err) {
        const hopeless = this.#stop.signal.aborted || (attempt >= TRIES && !isOutage(err));
        if (hopeless) {
          log.error({ err, deliveries: entries.length }, 'results of webhooks are lost');
          return;
        }
        log.warn({ err, attempt }, 'results of webhooks cannot be written');
        await new Wake().wait(backoffMs(attempt, RETRY), this.#stop.signal);
      }
    }
  }

  async #writeBatch(entries: readonly Entry[]): Promise<void> {
    const { pool, leaseMs, holdMs, patienceMs, onPromoted, onDisabled } = this.#options;
    const results = entries.flatMap((entry) => ('result' in entry ? [entry.result] : []));
    const untried = entries.flatMap((entry) => ('untried' in entry ? [entry.untried] : []));
    const news = this.#newsOfHealth(results);
    const leasedAtMs = performance.now();

    const { promoted, disabled } = await inTransaction(pool, async (tx) => {
      if (untried.length > 0) await releaseLeases(tx, untried, UNTRIED_PAUSE_MS);
      const lanes = results.length > 0 ? await recordResults(tx, results, holdMs) : [];
      const given = news.size > 0 ? await noteDestinationHealth(tx, news, patienceMs) : [];
      const reasons = new Map(given.map((id) => [id, 'no_success']));
      for (const { disables, delivery, reason = '' } of results) {
        if (disables) reasons.set(delivery.destinationId, reason);
      }
      if (reasons.size > 0) await disableDestinations(tx, reasons);
      return {
        promoted: lanes.length > 0 ? await promoteNext(tx, lanes, leaseMs) : [],
        disabled: [...reasons.keys()],
      };
    });

    for (const [id, succeeded] of news) this.#health.set(id, succeeded);
    if (disabled.length > 0) onDisabled(disabled);
    if (promoted.length > 0) onPromoted(promoted, leasedAtMs);
  }

  /** What is not known yet, or was noted long ago; one success in a batch outweighs the failures. */
  #newsOfHealth(results: readonly AttemptResult[]): Map<string, boolean> {
    const outcomes = new Map<string, boolean>();
    for (const { delivery, state } of results) {
      const { destinationId } = delivery;
      outcomes.set(destinationId, state === 'delivered' || (outcomes.get(destinationId) ?? false));
    }
    for (const [id, succeeded] of outcomes) {
      if (this.#health.get(id) === succeeded) outcomes.delete(id);
    }
    return outcomes;
  }
}
