/** Runs the pulls that are due, of this process and of those that died, several at once. */
import { runPipeline } from '@creditlane/postgres/pipeline';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import {
  nextDueMsQuery,
  type OwnedPull,
  renewLeases,
  retailersOfLostQuery,
  takeDuePullsQuery,
} from '../store/pull-states.ts';
import type { PullRow } from './pull.ts';
import { recordLostPulls } from './record-ending.ts';
import { type RunPullDeps, runPull } from './run-pull.ts';

export interface PullWorkerOptions extends RunPullDeps {
  /** How many pulls run at once. */
  maxPulls: number;
  /** How many of them are of one retailer and source, at most. */
  maxPullsPerRetailer: number;
  /** How late a pull is noticed, at most, that another process has stored or left unfinished. */
  pollMs: number;
  /** Is called after the commit that ends a pull. */
  onEnded: (pull: PullRow) => void;
}

/** A lease is renewed so many times before it ends. */
const RENEWALS_PER_LEASE = 3;

export class PullWorker {
  readonly #options: PullWorkerOptions;
  readonly #running = new Map<OwnedPull, Promise<void>>();
  readonly #rounds: PeriodicTask;
  readonly #renewal: PeriodicTask;

  constructor(options: PullWorkerOptions) {
    this.#options = options;
    this.#rounds = startPeriodicTask(options.pollMs, (stop) => this.#runRound(stop));
    this.#renewal = startPeriodicTask(options.leaseMs / RENEWALS_PER_LEASE, () => this.#renew());
  }

  /** Begins a pull that has just been stored. */
  wake(): void {
    this.#rounds.wake();
  }

  /**
   * Resolves once no inquiry is under way. A pull whose inquiry was not sent yet is given back; one that was sent
   * gets its answer first. The process's shutdown deadline ends the wait, and then the lease.
   */
  async close(): Promise<void> {
    await this.#rounds.close();
    await Promise.all(this.#running.values());
    await this.#renewal.close();
  }

  /** Starts the pulls that are due, and ends those that were lost; resolves to the pause before the next round. */
  async #runRound(stop: AbortSignal): Promise<number> {
    const { pool, log, leaseMs, pollMs, onEnded } = this.#options;
    const { maxPulls, maxPullsPerRetailer: share } = this.#options;
    let pauseMs = pollMs;
    try {
      // First, because leases end while the database is away.
      await this.#renew();
      const free = maxPulls - this.#running.size;
      const [nextMs = pollMs, taken, retailersOfLost] = await runPipeline(pool, [
        // First, so that a pull that becomes due between the two is taken.
        nextDueMsQuery(),
        takeDuePullsQuery({ limit: free, share, leaseMs }),
        retailersOfLostQuery(this.#ownIds()),
      ]);
      for (const pull of taken) this.#start(pull, stop);
      // While all places are taken, the next pull that ends wakes the worker. That is also what a due pull waits for that was
      // not taken, because its retailer has as many running as it may.
      if (free > taken.length) pauseMs = Math.min(pollMs, nextMs);
      const ended = await recordLostPulls(this.#options, retailersOfLost, this.#ownIds());
      for (const lost of ended) {
        log.warn({ pullId: lost.id, source: lost.source }, 'the outcome of a pull is unknown');
        onEnded(lost);
      }
    } catch (err) {
      log.warn({ err }, 'pulls cannot be read');
    }
    return pauseMs;
  }

  #ownIds(): string[] {
    return [...this.#running.keys()].map(({ id }) => id);
  }

  #start(pull: OwnedPull, stop: AbortSignal): void {
    const { log, onEnded } = this.#options;
    const running = runPull(this.#options, pull, stop)
      .then((ended) => {
        if (ended !== undefined) onEnded(ended);
      })
      .catch((err) => log.warn({ err, pullId: pull.id }, 'a pull was interrupted'))
      .finally(() => {
        this.#running.delete(pull);
        this.#rounds.wake();
      });
    this.#running.set(pull, running);
  }

  async #renew(): Promise<void> {
    const { pool, log } = this.#options;
    const own = [...this.#running.keys()];
    if (own.length === 0) return;
    try {
      await renewLeases(pool, own, this.#options);
    } catch (err) {
      log.warn({ err }, 'the leases of pulls were not renewed');
    }
  }
}
