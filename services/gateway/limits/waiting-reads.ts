/** Reads that wait for work of the platform, such as a pull: limited apart, and ended when the gateway closes. */
import { SharedAmount } from './shared-limit.ts';

export class WaitingReads {
  readonly #waiting: SharedAmount;
  readonly #closing = new AbortController();

  /**
   * A read may wait for 30 s, and counts as a request under way meanwhile. Each caller may have as many requests under
   * way as are left for others, so that the waiting reads of ten callers would take nearly all places.
   *
   * @param max must be smaller than the limit of the requests under way
   */
  constructor(max: number) {
    this.#waiting = new SharedAmount(max);
  }

  /**
   * Calls `read` with how long it may wait, and with the signal that ends it: `waitMs` or 0. It is 0 when too many
   * reads wait already, and once the gateway closes; a read that waits then is called again without a wait.
   */
  async run<T>(
    { caller, waitMs, signal }: { caller: string; waitMs: number; signal: AbortSignal | undefined },
    read: (waitMs: number, signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    const closing = this.#closing.signal;
    if (waitMs === 0 || closing.aborted) return read(0, signal);
    if (this.#waiting.tryTake(caller, 1) !== 'taken') return read(0, signal);
    try {
      const signals = signal === undefined ? [closing] : [closing, signal];
      return await read(waitMs, AbortSignal.any(signals));
    } catch (error) {
      if (!closing.aborted || signal?.aborted) throw error;
      return await read(0, signal);
    } finally {
      this.#waiting.release(caller, 1);
    }
  }

  /** Ends the reads that wait; later ones do not wait. */
  close(): void {
    this.#closing.abort();
  }
}
