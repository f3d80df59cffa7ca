import { WakeSignal } from './wake-signal.ts';

/** A task that runs again and again until `close`. */
export interface PeriodicTask {
  /** Ends the pause; during a run, has the next run follow at once. */
  wake(): void;
  /** Starts no further run, aborts `stop` of the present run, and resolves when the present run has ended. */
  close(): Promise<void>;
}

export interface PeriodicTaskOptions {
  /** True when the task begins with a pause; false when left out. */
  readonly pauseFirst?: boolean;
}

/**
 * Runs `task` at once, and then each time `pauseMs` after the end of the previous run, so that runs never overlap. A run may
 * resolve to the milliseconds until the next one instead; 0 means at once, without a timer. Errors of `task` are not caught and end the process, so a task that may fail handles its own errors.
 */
export function startPeriodicTask(
  pauseMs: number,
  task: (stop: AbortSignal) => Promise<void> | Promise<number | undefined>,
  { pauseFirst = false }: PeriodicTaskOptions = {},
): PeriodicTask {
  const stop = new AbortController();
  const woken = new WakeSignal();
  const run = async () => {
    if (pauseFirst) await woken.wait(pauseMs, stop.signal);
    while (!stop.signal.aborted) {
      const nextMs = (await task(stop.signal)) ?? pauseMs;
      if (nextMs > 0) await woken.wait(nextMs, stop.signal);
    }
  };
  const running = run();
  return {
    wake: () => woken.signal(),
    async close() {
      stop.abort();
      await running;
    },
  };
}
