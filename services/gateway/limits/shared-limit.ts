/** Limits that all callers share: no caller can use one up alone. */
import { Fault, resourceExhausted } from '@creditlane/rpc/fault';

export interface SharedLimitOptions {
  max: number;
  /** The message of the 503 when nothing is left for anyone. */
  full: string;
  /** The code and the message of the 429 when the caller has its share. */
  shareCode: string;
  share: string;
}

/**
 * An amount of something, such as requests under way or bytes in memory, of which each caller may have as
 * much as is left: half when it is the only one, a third when there are two. A fixed share of a quarter
 * would leave three quarters unused by one caller, and nothing for the fifth.
 */
export class SharedLimit {
  readonly #options: SharedLimitOptions;
  readonly #takenBy = new Map<string, number>();
  #taken = 0;

  constructor(options: SharedLimitOptions) {
    this.#options = options;
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * Takes an amount for a caller, which `release` gives back. Throws an `overloaded` Fault when less than that
   * is left, and a `resource_exhausted` Fault, which the caller itself has caused, above the caller's share.
   */
  take(caller: string, amount: number): void {
    const { max, full, shareCode, share } = this.#options;
    const left = max - this.#taken;
    if (amount > left) throw overloaded(full);
    const own = this.#takenBy.get(caller) ?? 0;
    if (own + amount > left) throw resourceExhausted(shareCode, share, 1);
    this.#takenBy.set(caller, own + amount);
    this.#taken += amount;
  }

  release(caller: string, amount: number): void {
    const own = (this.#takenBy.get(caller) ?? 0) - amount;
    if (own > 0) this.#takenBy.set(caller, own);
    else this.#takenBy.delete(caller);
    this.#taken -= amount;
  }
}

/** The gateway itself refuses to do more at once. */
export function overloaded(message: string): Fault {
  return new Fault('unavailable', 'overloaded', message, { retryAfterS: 1 });
}
