/** How many requests a destination may have under way: more while it answers well, none while it is broken. */
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';

export type BreakerState = 'closed' | 'open' | 'half_open';

const FIRST_LIMIT = 2;
const FAILURES_TO_OPEN = 5;
const OPEN = { baseMs: 500, capMs: 5_000 };

/**
 * The allowance of one destination. Each success adds one request up to the cap, each failure halves
 * them, so that one that hangs soon occupies next to nothing. After five failures in a row nothing
 * goes out for a while, and then a single request finds out whether to go on.
 */
export class Allowance {
  readonly #cap: number;
  readonly #random: () => number;
  #limit: number;
  #failuresInRow = 0;
  #closedUntilMs = 0;

  constructor(cap: number, random: () => number = Math.random) {
    this.#cap = cap;
    this.#random = random;
    this.#limit = Math.min(FIRST_LIMIT, cap);
  }

  /** Requests that may be under way at once. `nowMs` is of a clock that never goes back. */
  limit(nowMs: number): number {
    return nowMs < this.#closedUntilMs ? 0 : this.#limit;
  }

  state(nowMs: number): BreakerState {
    if (this.#failuresInRow < FAILURES_TO_OPEN) return 'closed';
    return nowMs < this.#closedUntilMs ? 'open' : 'half_open';
  }

  succeeded(): void {
    this.#failuresInRow = 0;
    this.#closedUntilMs = 0;
    this.#limit = Math.min(this.#cap, this.#limit + 1);
  }

  failed(nowMs: number): void {
    this.#failuresInRow += 1;
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
    const trip = this.#failuresInRow - FAILURES_TO_OPEN;
    if (trip < 0) return;
    this.#limit = 1;
    this.#closedUntilMs = nowMs + OPEN.baseMs / 2 + backoffMs(trip + 1, OPEN, this.#random);
  }
}
