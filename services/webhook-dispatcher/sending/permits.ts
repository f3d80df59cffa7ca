/** Permits for attempts that have none from a claim: those of test events, probes, and deliveries that took long to prepare. */
import { setTimeout } from 'node:timers/promises';
import { runPipeline } from '@creditlane/postgres/pipeline';
import type { Queryable } from '@creditlane/postgres/statement';
import {
  type DestinationRate,
  PERMIT_MS,
  saveRatesQuery,
  takePermitQuery,
} from '../store/rates.ts';

/**
 * Takes the next permit of a limited destination, waits until it may be used, and resolves to the time until which it lasts, by
 * performance.now(); undefined when the permit would have to be waited for longer than `maxWaitMs`.
 */
export async function takePermit(
  db: Queryable,
  rate: DestinationRate,
  maxWaitMs: number,
): Promise<number | undefined> {
  const takenMs = performance.now();
  const [, waitMs] = await runPipeline(db, [
    saveRatesQuery([rate]),
    takePermitQuery(rate.destinationId, maxWaitMs),
  ]);
  if (waitMs === undefined) return undefined;
  if (waitMs > 0) await setTimeout(waitMs);
  return takenMs + waitMs + PERMIT_MS;
}
