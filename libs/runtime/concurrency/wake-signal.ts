/**
 * A coalesced wake-up call between those who have made work and a loop that does it.
 *
 * A signal that comes while nobody waits is kept, once: the next wait returns at once. So a loop
 * that waits after each round never misses work that came during the round.
 */
export class WakeSignal {
  #signalled = false;
  readonly #waiters = new Set<() => void>();

  /** Wakes everyone who waits; when nobody does, the next wait returns at once. */
  signal(): void {
    if (this.#waiters.size === 0) {
      this.#signalled = true;
      return;
    }
    for (const resume of [...this.#waiters]) resume();
  }

  /** Returns after a signal, after `timeoutMs`, or once `abort` fires; it never rejects. */
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
      const timer = setTimeout(resume, timeoutMs);
      abort?.addEventListener('abort', resume, { once: true });
      this.#waiters.add(resume);
    });
  }
}
