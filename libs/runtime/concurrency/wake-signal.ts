/**
 * Wakes a loop when there is work. Signals coalesce.
 *
 * A signal without a waiter is kept, once: the next wait returns at once. A loop that waits after each
 * round therefore never misses work that arrived during the round.
 */
export class WakeSignal {
  #signalled = false;
  readonly #waiters = new Set<() => void>();

  /** Wakes all waiters. Without a waiter, the next wait returns at once. */
  signal(): void {
    if (this.#waiters.size === 0) {
      this.#signalled = true;
      return;
    }
    for (const resume of [...this.#waiters]) resume();
  }

  /** Resolves after a signal, after `timeoutMs`, which may be Infinity, or when `abort` aborts. Never rejects. */
  wait(timeoutMs: number, abort?: AbortSignal): Promise<void> {
    if (this.#signalled) {
      this.#signalled = false;
      return Promise.resolve();
    }
    if (abort?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        abort?.removeEventListener('abort', resume);
        this.#waiters.delete(resume);
        resolve();
      };
      const timer = timeoutMs < Infinity ? setTimeout(resume, timeoutMs) : undefined;
      abort?.addEventListener('abort', resume, { once: true });
      this.#waiters.add(resume);
    });
  }
}
