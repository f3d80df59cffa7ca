/** Finishes the erasures that were begun: by command, and those whose process died or found the applications service away. */
import { Fault } from '@creditlane/rpc/fault';
import type { BackoffBounds } from '@creditlane/runtime/concurrency/backoff';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { countUnfinishedErasures, takeDueErasure } from '../store/applicant-erasures.ts';
import { type FinishErasureDeps, finishErasure } from './erase-applicant.ts';

/** When unfinished erasures are looked for and tried. */
export interface ErasureTimes extends BackoffBounds {
  /** How late an erasure by command is noticed, at most. */
  pollMs: number;
}

/** The first backoff is longer than a call of the applications service may take. */
export const ERASURE_TIMES: ErasureTimes = { pollMs: 10_000, baseMs: 20_000, capMs: 600_000 };

export type UnfinishedErasuresDeps = FinishErasureDeps & { log: Log; metrics: Metrics };

/** Looks for erasures that are due until closed: one statement for each look, and one for each erasure. */
export function startUnfinishedErasures(
  deps: UnfinishedErasuresDeps,
  times: ErasureTimes,
): PeriodicTask {
  const { pool, log, metrics } = deps;
  metrics.gauge(
    'credit_file_unfinished_erasures',
    'Erasures of applicants that are not finished: the applications service has not erased the personal data yet.',
    [],
    async (gauge) => gauge.set((await countUnfinishedErasures(pool)).count),
  );
  metrics.gauge(
    'credit_file_oldest_unfinished_erasure_seconds',
    'Age of the oldest erasure of an applicant that is not finished; 0 without one.',
    [],
    async (gauge) => gauge.set((await countUnfinishedErasures(pool)).ageS),
  );
  return startPeriodicTask(times.pollMs, async (signal) => {
    try {
      while (!signal.aborted && (await finishNext(deps, times, signal)));
    } catch (err) {
      log.warn({ err }, 'unfinished erasures cannot be read');
    }
  });
}

/** Tries the next erasure that is due; tells whether another one is worth a try. */
async function finishNext(
  deps: UnfinishedErasuresDeps,
  backoff: BackoffBounds,
  signal: AbortSignal,
): Promise<boolean> {
  const due = await takeDueErasure(deps.pool, backoff);
  if (due === undefined) return false;
  const { attempts, ...applicant } = due;
  try {
    await finishErasure(deps, applicant, { signal });
    return true;
  } catch (err) {
    if (signal.aborted) return false;
    deps.log.warn({ err, ...applicant, attempts }, 'an erasure is not finished; it is tried again');
    // The others would find the applications service away, too.
    return !(err instanceof Fault && err.kind === 'unavailable');
  }
}
