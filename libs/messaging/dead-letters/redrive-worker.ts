/** Gives dead letters to their consumer again, as operators have requested. */
import type { EventMessage } from '@creditlane/events/message';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type pg from 'pg';
import { observeDeadLetters } from './dead-letters.ts';
import { finishRedrive, type TakenRedrive, takeRedrives } from './redrives.ts';

/** How late a request is noticed, at most. */
const POLL_MS = 5_000;
/** At once: what a process that dies has taken is handled a minute later. */
const MAX_TAKEN = 50;

export interface RedriveWorkerOptions {
  readonly pool: pg.Pool;
  /** The consumer group whose dead letters are handled. */
  readonly consumer: string;
  /** The handler that the consumer has subscribed with. */
  handle(batch: EventMessage[]): Promise<void>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly pollMs?: number;
}

/**
 * Handles the requested dead letters until closed, one after the other. Exports how many are left. A redrive that cannot be
 * handled at the moment, such as while a peer is away, is tried again after a minute, and with it those of its key that
 * follow it.
 */
export function startRedriveWorker(options: RedriveWorkerOptions): PeriodicTask {
  const { pool, consumer, handle, log, metrics, pollMs = POLL_MS } = options;
  const ended = metrics.counter(
    'dead_letter_redrives_total',
    'Dead letters that operators had handled again, by outcome: handled, or failed.',
    ['consumer', 'outcome'],
  );
  observeDeadLetters(metrics, pool, consumer);
  const handleAgain = async (redrive: TakenRedrive) => {
    await handle([redrive.message]);
    const outcome = await finishRedrive(pool, redrive);
    if (outcome === undefined) return;
    ended.inc({ consumer, outcome });
    const { deadLetterId, requestedBy, message } = redrive;
    const { ce_id: eventId } = message.headers;
    const fields = { consumer, deadLetterId, eventId, requestedBy, outcome };
    log.info(fields, 'a dead letter was handled again');
  };
  const takeOrNone = async () => {
    try {
      return await takeRedrives(pool, consumer, MAX_TAKEN);
    } catch (err) {
      log.warn({ err, consumer }, 'dead letters cannot be handled again at the moment');
      return [];
    }
  };
  const round = async (stop: AbortSignal) => {
    const failedKeys = new Set<string>();
    for (const redrive of await takeOrNone()) {
      if (stop.aborted) return;
      const { deadLetterId, message } = redrive;
      if (failedKeys.has(message.key)) continue;
      try {
        await handleAgain(redrive);
      } catch (err) {
        failedKeys.add(message.key);
        const fields = { err, consumer, deadLetterId };
        log.warn(fields, 'a dead letter cannot be handled again at the moment');
      }
    }
  };
  return startPeriodicTask(pollMs, round, { pauseFirst: true });
}
