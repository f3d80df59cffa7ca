/** Writes results down, in batches of whatever has gathered while the last batch was under way. */
import type { Database } from '@creditlane/postgres/database';
import { isTransientError } from '@creditlane/postgres/error-classes';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { Batcher } from '@creditlane/runtime/concurrency/batcher';
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { LRUCache } from 'lru-cache';
import type { AttemptResult, Delivery } from '../queue/delivery.ts';
import { promotingNext, releasingLeases } from '../store/deliveries.ts';
import {
  type Disabling,
  endingDisabled,
  type Health,
  notingHealth,
} from '../store/destinations.ts';
import { recordingResults } from '../store/results.ts';

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
export type Entry = { readonly result: AttemptResult } | { readonly untried: Delivery };

const MAX_BATCH = 1_000;
const TRIES = 5;
/** How many of the deliveries whose results are lost a line of the log names. */
const MAX_NAMED = 20;
const RETRY = { baseMs: 50, capMs: 2_000 };
/** How soon an untried delivery is due again. */
const UNTRIED_PAUSE_MS = 1_000;
/** How often a destination that stays as it is is noted again. */
const HEALTH_EVERY_MS = 60_000;

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #health = new LRUCache<string, Health>({ max: 10_000, ttl: HEALTH_EVERY_MS });
  readonly #stop = new AbortController();
  readonly #rounds: Batcher<Entry, void>;

  constructor(options: RecorderOptions) {
    this.#options = options;
    const write = async (entries: readonly Entry[]) => {
      await this.#insist(entries);
      return entries.map(() => undefined);
    };
    this.#rounds = new Batcher(write, { maxConcurrent: 1, maxItems: MAX_BATCH });
  }

  /**
   * Resolves once it is written, or given up: then nobody holds the delivery any more, and it is due
   * again when its lease ends.
   */
  record(entry: Entry): Promise<void> {
    return this.#rounds.add(entry);
  }

  /** Writes what has gathered, without insisting. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#rounds.settled();
  }

  /**
   * What passes is waited out. What the database refuses is looked for by halves, so that it keeps
   * nothing else from being written; refused time and again, it is given up.
   */
  async #insist(entries: readonly Entry[]): Promise<void> {
    const { log } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#writeBatch(entries);
      } catch (err) {
        const refused = !isTransientError(err);
        if (refused && entries.length > 1) {
          const middle = entries.length >> 1;
          await this.#insist(entries.slice(0, middle));
          return await this.#insist(entries.slice(middle));
        }
        if (this.#stop.signal.aborted || (refused && attempt === TRIES)) {
          const deliveryIds = entries.slice(0, MAX_NAMED).map((entry) => deliveryOf(entry).id);
          const lost = { err, deliveries: entries.length, deliveryIds };
          log.error(lost, 'results of webhooks are lost');
          return;
        }
        log.warn({ err, attempt }, 'results of webhooks cannot be written');
        await new WakeSignal().wait(backoffMs(attempt, RETRY), this.#stop.signal);
      }
    }
  }

  async #writeBatch(entries: readonly Entry[]): Promise<void> {
    const { pool, leaseMs, holdMs, patienceMs, onPromoted } = this.#options;
    const results = entries.flatMap((entry) => ('result' in entry ? [entry.result] : []));
    const untried = entries.flatMap((entry) => ('untried' in entry ? [entry.untried] : []));
    const news = this.#newsOfHealth(results);
    const leasedAtMs = performance.now();
    const tried = results.map(({ delivery }) => delivery);
    // Only of these may it turn out that they get nothing more; then nothing of theirs is promoted.
    const doubtful = [...news]
      .filter(([, { succeeded, gone }]) => !succeeded || gone !== undefined)
      .map(([id]) => id);
    const [lockPending, endPending] = doubtful.length > 0 ? endingDisabled(doubtful) : [];

    const [, , disabled, , , promoted] = await runPipeline(pool, [
      untried.length > 0 ? releasingLeases(untried, UNTRIED_PAUSE_MS) : undefined,
      tried.length > 0 ? recordingResults(results, holdMs) : undefined,
      news.size > 0 ? notingHealth(news, patienceMs) : undefined,
      lockPending,
      endPending,
      tried.length > 0 ? promotingNext(tried, leaseMs) : undefined,
    ]);

    for (const [id, health] of news) this.#health.set(id, health);
    if (disabled?.length) this.#tellOfDisabled(disabled);
    if (promoted?.length) onPromoted(promoted, leasedAtMs);
  }

  #tellOfDisabled(disablings: readonly Disabling[]): void {
    const { log, onDisabled } = this.#options;
    for (const { isNew, ...disabling } of disablings) {
      if (isNew) log.warn(disabling, 'a webhook destination is disabled until it is set anew');
    }
    onDisabled(disablings.map(({ destinationId }) => destinationId));
  }

  /** What is not known yet, or was noted long ago; one success in a batch outweighs the failures. */
  #newsOfHealth(results: readonly AttemptResult[]): Map<string, Health> {
    const news = new Map<string, Health>();
    for (const { delivery, revision, state, disables, reason } of results) {
      if (revision === undefined) continue;
      const { destinationId } = delivery;
      const other = news.get(destinationId);
      if (other !== undefined && other.revision > revision) continue;
      const same = other?.revision === revision ? other : undefined;
      news.set(destinationId, {
        revision,
        succeeded: same?.succeeded || state === 'delivered',
        gone: disables ? reason : same?.gone,
      });
    }
    for (const [id, { revision, succeeded, gone }] of news) {
      const noted = this.#health.get(id);
      const known = noted?.revision === revision && noted.succeeded === succeeded;
      if (known && gone === undefined) news.delete(id);
    }
    return news;
  }
}

function deliveryOf(entry: Entry): Delivery {
  return 'result' in entry ? entry.result.delivery : entry.untried;
}
