/** The adaptive limit and the circuit breaker of one destination: how many requests may be under way. */
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';

export type BreakerState = 'closed' | 'open' | 'half_open';

const INITIAL_LIMIT = 2;
const FAILURES_TO_OPEN = 5;
const OPEN_BACKOFF = { baseMs: 500, capMs: 5_000 };

/**
 * Each success adds one request up to the maximum and each failure halves the limit, so a destination
 * that hangs soon has few requests under way. Five failures in a row open the circuit breaker: no
 * request is sent for a while, and then one, whose outcome closes the breaker or opens it again.
 */
export class AdaptiveLimit {
  readonly #max: number;
  readonly #random: () => number;
  #limit: number;
  #failuresInRow = 0;
  #openUntilMs = 0;

  constructor(max: number, random: () => number = Math.random) {
    this.#max = max;
    this.#random = random;
    this.#limit = Math.min(INITIAL_LIMIT, max);
  }

  /** How many requests may be under way at once. `nowMs` is of a monotonic clock. */
  limit(nowMs: number): number {
    return nowMs < this.#openUntilMs ? 0 : this.#limit;
  }

  state(nowMs: number): BreakerState {
    if (this.#failuresInRow < FAILURES_TO_OPEN) return 'closed';
    return nowMs < this.#openUntilMs ? 'open' : 'half_open';
  }

  succeeded(): void {
    this.#failuresInRow = 0;
    this.#openUntilMs = 0;
    this.#limit = Math.min(this.#max, this.#limit + 1);
  }

  failed(nowMs: number): void {
    this.#failuresInRow += 1;
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
    const extraFailures = this.#failuresInRow - FAILURES_TO_OPEN;
    if (extraFailures < 0) return;
    this.#limit = 1;
    const pauseMs = backoffMs(extraFailures + 1, OPEN_BACKOFF, this.#random);
    this.#openUntilMs = nowMs + OPEN_BACKOFF.baseMs / 2 + pauseMs;
  }
}
