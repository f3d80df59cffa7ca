/** Limits that all callers share: no caller can use one up alone. */
import { Fault, resourceExhausted } from '@creditlane/rpc/fault';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';

/**
 * An amount of something, such as requests under way or bytes in memory, of which each caller may have as
 * much as is left: half when it is the only one, a third when there are two. A fixed share of a quarter
 * would leave three quarters unused by one caller, and nothing for the fifth.
 */
export class SharedAmount {
  readonly #max: number;
  readonly #takenBy = new Map<string, number>();
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * Takes an amount for a caller, which `release` gives back. Takes nothing when less than that is left
   * (`none_left`), and above the caller's share.
   */
  tryTake(caller: string, amount: number): 'taken' | 'none_left' | 'above_share' {
    const left = this.#max - this.#taken;
    if (amount > left) return 'none_left';
    const own = this.#takenBy.get(caller) ?? 0;
    if (own + amount > left) return 'above_share';
    this.#takenBy.set(caller, own + amount);
    this.#taken += amount;
    return 'taken';
  }

  release(caller: string, amount: number): void {
    const own = (this.#takenBy.get(caller) ?? 0) - amount;
    if (own > 0) this.#takenBy.set(caller, own);
    else this.#takenBy.delete(caller);
    this.#taken -= amount;
  }
}

export interface SharedLimitOptions {
  max: number;
  /** The name of the gauge of what is taken, and what it counts. */
  gauge: string;
  about: string;
  /** The message of the 503 when nothing is left for anyone. */
  full: string;
  /** The code and the message of the 429 when the caller has its share. */
  shareCode: string;
  share: string;
}

/** A shared amount that refuses requests when it is used up, with a gauge of what is taken. */
export class SharedLimit extends SharedAmount {
  readonly #options: SharedLimitOptions;

  constructor(metrics: Metrics, options: SharedLimitOptions) {
    super(options.max);
    this.#options = options;
    metrics.gauge(options.gauge, options.about, [], (gauge) => gauge.set(this.taken));
  }

  /**
   * Takes an amount for a caller, which `release` gives back. Throws an `overloaded` Fault when less than that
   * is left, and a `resource_exhausted` Fault, which the caller itself has caused, above the caller's share.
   */
  take(caller: string, amount: number): void {
    const { full, shareCode, share } = this.#options;
    const outcome = this.tryTake(caller, amount);
    if (outcome === 'none_left') throw overloaded(full);
    if (outcome === 'above_share') throw resourceExhausted(shareCode, share, 1);
  }
}

/** The gateway itself refuses to do more at once. */
export function overloaded(message: string): Fault {
  return new Fault('unavailable', 'overloaded', message, { retryAfterS: 1 });
}
