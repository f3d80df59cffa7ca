/** Writes results down, in batches of whatever has gathered while the last batch was under way. */
import type { Database } from '@creditlane/postgres/database';
import { isPassing } from '@creditlane/postgres/outage';
import { runTogether } from '@creditlane/postgres/round-trip';
import { run } from '@creditlane/postgres/statement';
import { backoffMs } from '@creditlane/runtime/backoff';
import { Gathering } from '@creditlane/runtime/gathering';
import type { Log } from '@creditlane/runtime/log';
import { Wake } from '@creditlane/runtime/wake';
import { LRUCache } from 'lru-cache';
import type { AttemptResult, Delivery } from './delivery.ts';
import {
  type Disabling,
  disablingDestinations,
  type Health,
  notingHealth,
} from './destination-store.ts';
import { recordingResults } from './result-store.ts';
import { promotingNext, releasingLeases } from './store.ts';

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
  readonly #rounds: Gathering<Entry, void>;

  constructor(options: RecorderOptions) {
    this.#options = options;
    const write = async (entries: readonly Entry[]) => {
      await this.#insist(entries);
      return entries.map(() => undefined);
    };
    this.#rounds = new Gathering(write, { atOnce: 1, maxItems: MAX_BATCH });
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
        const refused = !isPassing(err);
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
        await new Wake().wait(backoffMs(attempt, RETRY), this.#stop.signal);
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
    const gone = disablingsOf(results);

    const [, , failing = [], disabled, promoted = []] = await runTogether(pool, [
      untried.length > 0 ? releasingLeases(untried, UNTRIED_PAUSE_MS) : undefined,
      tried.length > 0 ? recordingResults(results, holdMs) : undefined,
      news.size > 0 ? notingHealth(news, patienceMs) : undefined,
      gone.length > 0 ? disablingDestinations(gone) : undefined,
      tried.length > 0 ? promotingNext(tried, leaseMs) : undefined,
    ]);
    if (disabled !== undefined) this.#tellOfDisabled(gone, disabled);
    if (promoted.length > 0) onPromoted(promoted, leasedAtMs);
    if (failing.length > 0) {
      this.#tellOfDisabled(failing, await run(pool, disablingDestinations(failing)));
    }
    // Not before: that one has failed for too long is found again only when its health is noted again.
    for (const [id, health] of news) this.#health.set(id, health);
  }

  #tellOfDisabled(disablings: readonly Disabling[], disabled: ReadonlyMap<string, boolean>): void {
    const { log, onDisabled } = this.#options;
    for (const disabling of disablings) {
      if (!disabled.get(disabling.destinationId)) continue;
      log.warn({ ...disabling }, 'a webhook destination is disabled until it is set anew');
    }
    onDisabled([...disabled.keys()]);
  }

  /** What is not known yet, or was noted long ago; one success in a batch outweighs the failures. */
  #newsOfHealth(results: readonly AttemptResult[]): Map<string, Health> {
    const news = new Map<string, Health>();
    for (const { delivery, revision, state } of results) {
      if (revision === undefined) continue;
      const { destinationId } = delivery;
      const other = news.get(destinationId);
      if (other !== undefined && other.revision > revision) continue;
      const before = other?.revision === revision && other.succeeded;
      news.set(destinationId, { revision, succeeded: before || state === 'delivered' });
    }
    for (const [id, { revision, succeeded }] of news) {
      const noted = this.#health.get(id);
      if (noted?.revision === revision && noted.succeeded === succeeded) news.delete(id);
    }
    return news;
  }
}

/** Those that say themselves that they get nothing more. */
function disablingsOf(results: readonly AttemptResult[]): readonly Disabling[] {
  const disablings = new Map<string, Disabling>();
  for (const { delivery, revision, disables, reason = '' } of results) {
    if (!disables || revision === undefined) continue;
    const { destinationId } = delivery;
    disablings.set(destinationId, { destinationId, revision, reason });
  }
  return [...disablings.values()];
}

function deliveryOf(entry: Entry): Delivery {
  return 'result' in entry ? entry.result.delivery : entry.untried;
}
