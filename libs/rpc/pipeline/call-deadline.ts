/** The time a call has: it ends at the deadline, or when the caller gives up. */
import { cancelled, deadlineExceeded, type Fault } from '../fault.ts';

/** What a caller gets that names no time of its own. */
export const DEFAULT_TIMEOUT_MS = 10_000;
/** The most that any caller gets. */
export const MAX_TIMEOUT_MS = 120_000;

/** A transport may keep the deadline too, by a clock of its own that is this much ahead of ours. */
const TRANSPORT_SLACK_MS = 20;

/** Runs the work of one call within its time. */
export class CallDeadline {
  /** Milliseconds since the epoch. */
  readonly deadlineMs: number;
  readonly #givenUp: AbortSignal | undefined;
  // Made when first asked for: most handlers never look.
  #controller: AbortController | undefined;
  #over: Fault | undefined;

  /** `givenUp` aborts when the caller does. */
  constructor(timeoutMs: number | undefined, givenUp: AbortSignal | undefined) {
    this.deadlineMs = Date.now() + Math.min(timeoutMs ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
    this.#givenUp = givenUp;
  }

  /** Aborts with the Fault that ended the call early. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#over !== undefined) this.#controller.abort(this.#over);
    return this.#controller.signal;
  }

  /**
   * The outcome of the work, or a Fault as soon as the time is over, whether the work heeds the
   * signal or not. What becomes of such abandoned work is told to `abandoned`.
   */
  async run<T>(work: () => Promise<T>, abandoned: (error: unknown) => void): Promise<T> {
    const remainingMs = this.deadlineMs - Date.now();
    if (this.#givenUp?.aborted) throw this.#end(this.#gaveUp());
    if (remainingMs <= 0) throw this.#end(deadlineExceeded());

    const working = work();
    let timer: NodeJS.Timeout | undefined;
    let giveUp: (() => void) | undefined;
    const early = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#end(deadlineExceeded())), remainingMs);
      giveUp = () => reject(this.#end(this.#gaveUp()));
      this.#givenUp?.addEventListener('abort', giveUp, { once: true });
    });
    try {
      return await Promise.race([working, early]);
    } catch (error) {
      if (error === this.#over) working.catch(abandoned);
      throw error;
    } finally {
      clearTimeout(timer);
      if (giveUp !== undefined) this.#givenUp?.removeEventListener('abort', giveUp);
    }
  }

  #gaveUp(): Fault {
    const early = Date.now() < this.deadlineMs - TRANSPORT_SLACK_MS;
    return early ? cancelled() : deadlineExceeded();
  }

  #end(fault: Fault): Fault {
    this.#over = fault;
    this.#controller?.abort(fault);
    return fault;
  }
}
