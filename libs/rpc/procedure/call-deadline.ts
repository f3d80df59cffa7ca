/** How long a call may take: until its deadline, or until its caller cancels it. */
import { cancelled, deadlineExceeded, type Fault } from '../fault.ts';

/** The time limit of a call whose caller sets none. */
export const DEFAULT_TIMEOUT_MS = 10_000;
/** The longest time limit that a caller can set. */
export const MAX_TIMEOUT_MS = 120_000;

/**
 * A transport that also enforces the deadline may abort a call this long before our timer fires. So an
 * abort within this time before the deadline counts as the deadline, not as a cancellation.
 */
const TRANSPORT_CLOCK_SLACK_MS = 20;

/**
 * Runs the handler of one call until its deadline or until its caller cancels. `withTimeLimit` knows no
 * cancellation, and a second race around it would cost time in every call.
 */
export class CallDeadline {
  /** Milliseconds since the epoch. */
  readonly deadlineMs: number;
  readonly #callerSignal: AbortSignal | undefined;
  // Created on first use: most handlers never read the signal.
  #controller: AbortController | undefined;
  #fault: Fault | undefined;

  /** `callerSignal` aborts when the caller cancels the call. */
  constructor(timeoutMs: number | undefined, callerSignal: AbortSignal | undefined) {
    this.deadlineMs = Date.now() + Math.min(timeoutMs ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
    this.#callerSignal = callerSignal;
  }

  /** Aborts when the call ends early; the reason is the Fault that its caller gets. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#fault !== undefined) this.#controller.abort(this.#fault);
    return this.#controller.signal;
  }

  /**
   * Returns the outcome of `work`, or rejects with a Fault as soon as the deadline passes or the caller
   * cancels, whether `work` honours the signal or not. `onLateFailure` gets the error of work that
   * fails after that.
   */
  async run<T>(work: () => Promise<T>, onLateFailure: (error: unknown) => void): Promise<T> {
    const remainingMs = this.deadlineMs - Date.now();
    if (this.#callerSignal?.aborted) throw this.#end(this.#cancellationFault());
    if (remainingMs <= 0) throw this.#end(deadlineExceeded());

    const working = work();
    let timer: NodeJS.Timeout | undefined;
    let onCancel: (() => void) | undefined;
    const earlyEnd = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#end(deadlineExceeded())), remainingMs);
      onCancel = () => reject(this.#end(this.#cancellationFault()));
      this.#callerSignal?.addEventListener('abort', onCancel, { once: true });
    });
    try {
      return await Promise.race([working, earlyEnd]);
    } catch (error) {
      if (error === this.#fault) working.catch(onLateFailure);
      throw error;
    } finally {
      clearTimeout(timer);
      if (onCancel !== undefined) this.#callerSignal?.removeEventListener('abort', onCancel);
    }
  }

  #cancellationFault(): Fault {
    const isEarly = Date.now() < this.deadlineMs - TRANSPORT_CLOCK_SLACK_MS;
    return isEarly ? cancelled() : deadlineExceeded();
  }

  #end(fault: Fault): Fault {
    this.#fault = fault;
    this.#controller?.abort(fault);
    return fault;
  }
}
