/** A circuit breaker: after failures in a row, no inquiry is sent for a while, and then one as a probe. */
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';

export type BreakerState = 'closed' | 'open' | 'half_open';

/** What an inquiry says about the bureau; nothing, when it ended for a reason of this process. */
export type BreakerVerdict = 'success' | 'failure' | 'nothing';

/** An inquiry that may be sent; called once, with what it says about the bureau. */
export type Admission = (verdict: BreakerVerdict) => void;

const OPEN_BACKOFF = { baseMs: 5_000, capMs: 60_000 };

export class CircuitBreaker {
  readonly #failuresToOpen: number;
  readonly #nowMs: () => number;
  readonly #random: () => number;
  #failuresInRow = 0;
  #openUntilMs = 0;
  #isProbing = false;

  /**
   * @param failuresToOpen how many failures in a row open the breaker
   * @param nowMs of a monotonic clock
   */
  constructor(failuresToOpen: number, nowMs: () => number, random: () => number = Math.random) {
    this.#failuresToOpen = failuresToOpen;
    this.#nowMs = nowMs;
    this.#random = random;
  }

  get state(): BreakerState {
    if (this.#failuresInRow < this.#failuresToOpen) return 'closed';
    return this.#isProbing || this.#nowMs() >= this.#openUntilMs ? 'half_open' : 'open';
  }

  /** Undefined when no inquiry may be sent now. */
  admit(): Admission | undefined {
    const { state } = this;
    if (state === 'open' || this.#isProbing) return undefined;
    const isProbe = state === 'half_open';
    this.#isProbing = isProbe;
    return (verdict) => {
      // A success closes the breaker, also that of an inquiry which was sent before the breaker opened.
      if (isProbe || verdict === 'success') this.#isProbing = false;
      if (verdict === 'success') this.#failuresInRow = 0;
      // Of inquiries that were sent before the breaker opened, a failure tells nothing new.
      if (verdict === 'failure' && (isProbe || this.state === 'closed')) this.#failed();
    };
  }

  #failed(): void {
    this.#failuresInRow += 1;
    const extraFailures = this.#failuresInRow - this.#failuresToOpen;
    if (extraFailures < 0) return;
    const pauseMs = backoffMs(extraFailures + 1, OPEN_BACKOFF, this.#random);
    this.#openUntilMs = this.#nowMs() + OPEN_BACKOFF.baseMs / 2 + pauseMs;
  }
}
