import { pause } from './pause.ts';

/** A task that runs again and again until `close`. */
export interface PeriodicTask {
  /** Starts no further run, aborts `stop` of the present run, and resolves when the present run has ended. */
  close(): Promise<void>;
}

/**
 * Runs `task` after `firstDelayMs`, and then each time `pauseMs` after the end of the previous run, so
 * that runs never overlap. Errors of `task` are not caught and end the process, so a task that may fail
 * handles its own errors.
 */
export function startPeriodicTask(
  pauseMs: number,
  task: (stop: AbortSignal) => Promise<void>,
  firstDelayMs = 0,
): PeriodicTask {
  const stop = new AbortController();
  const run = async () => {
    if (firstDelayMs > 0) await pause(firstDelayMs, stop.signal);
    while (!stop.signal.aborted) {
      await task(stop.signal);
      await pause(pauseMs, stop.signal);
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
