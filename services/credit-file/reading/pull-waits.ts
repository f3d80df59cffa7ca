/** Waits for pulls to end, whichever process ends them, without holding a connection. */
import type { Database } from '@creditlane/postgres/database';
import { pause } from '@creditlane/runtime/concurrency/pause';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { findEndedPulls } from '../store/pull-states.ts';

/** How late, at most, the end of a pull of another process is noticed. */
const POLL_MS = 250;
/** A caller's further waits end at once, so that no caller takes what all share. */
const MAX_WAITS_PER_CALLER = 100;
const MAX_WAITS = 2_000;

interface Wait {
  pullId: string;
  callerId: string;
  end: () => void;
}

export class PullWaits {
  readonly #pool: Database['pool'];
  readonly #log: Log;
  readonly #isDraining: () => boolean;
  readonly #waits = new Set<Wait>();
  readonly #stop = new AbortController();
  /** While a pull is awaited. */
  #polling: Promise<void> | undefined;

  /** @param isDraining whether the process is about to stop: no wait may hold up its end */
  constructor(pool: Database['pool'], log: Log, isDraining: () => boolean) {
    this.#pool = pool;
    this.#log = log;
    this.#isDraining = isDraining;
  }

  /** Ends the waits for a pull of this process. */
  report(pullId: string): void {
    for (const wait of [...this.#waits]) if (wait.pullId === pullId) wait.end();
  }

  /**
   * Resolves when the pull has ended, after `timeoutMs`, or when `signal` aborts. Resolves at once for a caller
   * with as many waits as one caller may have. Never rejects.
   */
  async wait(
    pullId: string,
    { callerId, timeoutMs, signal }: { callerId: string; timeoutMs: number; signal: AbortSignal },
  ): Promise<void> {
    const own = [...this.#waits].filter((wait) => wait.callerId === callerId);
    if (own.length >= MAX_WAITS_PER_CALLER || this.#waits.size >= MAX_WAITS) return;
    if (signal.aborted || timeoutMs <= 0 || this.#isDraining()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wait: Wait = { pullId, callerId, end: resolve };
    this.#waits.add(wait);
    this.#polling ??= this.#pollWhileAwaited();
    const timer = setTimeout(resolve, timeoutMs);
    const onAbort = () => resolve();
    signal.addEventListener('abort', onAbort, { once: true });
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    this.#waits.delete(wait);
  }

  /** Ends every wait. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#endAll();
    await this.#polling;
  }

  #endAll(): void {
    for (const wait of [...this.#waits]) wait.end();
  }

  async #pollWhileAwaited(): Promise<void> {
    while (this.#waits.size > 0 && !this.#stop.signal.aborted) {
      await pause(POLL_MS, this.#stop.signal);
      await this.#poll();
    }
    this.#polling = undefined;
  }

  async #poll(): Promise<void> {
    if (this.#waits.size === 0) return;
    if (this.#isDraining()) return this.#endAll();
    try {
      const awaited = [...new Set([...this.#waits].map(({ pullId }) => pullId))];
      for (const id of await findEndedPulls(this.#pool, awaited)) this.report(id);
    } catch (err) {
      this.#log.debug({ err }, 'the states of awaited pulls cannot be read');
    }
  }
}
