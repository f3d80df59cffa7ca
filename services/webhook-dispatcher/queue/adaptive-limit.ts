/** The adaptive limit of one destination: how many requests may be under way. */

/** A new destination starts with two requests: if one hangs, another application still gets through. */
const INITIAL_LIMIT = 2;
const FAILURES_TO_OPEN = 5;

/**
 * Each success adds one request up to the maximum and each failure halves the limit, so a destination
 * that hangs soon has few requests under way. A refusal is neither. Its circuit breaker opens after five failures in a row; after a slow
 * one, as soon as the limit is one. Slow is a request that takes SLOW_MS (send-slots.ts).
 */
export class AdaptiveLimit {
  readonly #max: number;
  #requests: number;
  #failuresInRow = 0;
  #isSlow = false;
  /** Since its last failure. */
  #hasSucceeded = false;

  constructor(max: number) {
    this.#max = max;
    this.#requests = Math.min(INITIAL_LIMIT, max);
  }

  /** How many requests may be under way at once. */
  get requests(): number {
    return this.#requests;
  }

  /** Whether the destination has answered with success so often that it may have more requests than a new one, or the maximum. */
  get isProven(): boolean {
    if (this.#requests > INITIAL_LIMIT) return true;
    return this.#hasSucceeded && this.#requests === this.#max;
  }

  /** Whether the last request was slow. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  succeeded(wasSlow: boolean): void {
    this.#isSlow = wasSlow;
    this.#failuresInRow = 0;
    this.#hasSucceeded = true;
    this.#requests = Math.min(this.#max, this.#requests + 1);
  }

  /** The destination answers, and refuses one delivery: it can take as many requests as before. */
  refused(wasSlow: boolean): void {
    this.#isSlow = wasSlow;
    this.#failuresInRow = 0;
  }

  /** Returns whether the circuit breaker is to open. */
  failed(wasSlow: boolean): boolean {
    this.#isSlow = wasSlow;
    this.#failuresInRow += 1;
    this.#hasSucceeded = false;
    this.#requests = Math.max(1, Math.floor(this.#requests / 2));
    const opens = this.#failuresInRow >= FAILURES_TO_OPEN || (wasSlow && this.#requests === 1);
    if (opens) this.#requests = 1;
    return opens;
  }
}
