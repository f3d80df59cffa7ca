import { WakeSignal } from './wake-signal.ts';

/** Work that goes on until it is closed. */
export interface PeriodicTask {
  /** No further round is begun; resolves after the one under way. */
  close(): Promise<void>;
}

/**
 * Does `work` again and again: the first round after `firstMs`, each later one `everyMs` after the
 * end of the one before, so rounds never overlap. What `work` throws is not caught: a round that may
 * fail says itself what that means.
 */
export function startPeriodicTask(
  everyMs: number,
  work: (stop: AbortSignal) => Promise<void>,
  firstMs = 0,
): PeriodicTask {
  const stop = new AbortController();
  const pause = new WakeSignal();
  const run = async () => {
    if (firstMs > 0) await pause.wait(firstMs, stop.signal);
    while (!stop.signal.aborted) {
      await work(stop.signal);
      await pause.wait(everyMs, stop.signal);
    }
  };
  const running = run();
  return {
    async close() {
      stop.abort();
      await running;
    },
  };
}
