/** Runs the replay jobs that integrations and operators have asked for, slice by slice. */
import type { Database } from '@creditlane/postgres/database';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Destinations } from '../destinations/destinations.ts';
import type { DispatcherMetrics } from '../dispatcher-metrics.ts';
import type { Backlog } from '../queue/backlog.ts';
import type { DeliveryQueue } from '../queue/delivery-queue.ts';
import { findNextReplayJobs, type NextReplayJob, type ReplayJobRow } from '../store/replay-jobs.ts';
import { countReplaySlice, postponeReplayJob } from '../store/replay-slices.ts';
import { replaySlice, type SliceLimits } from './replay-slice.ts';

export interface ReplayJobWorkerDeps {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly metrics: DispatcherMetrics;
  readonly queue: Pick<DeliveryQueue, 'requestLimit'>;
  readonly backlog: Pick<Backlog, 'add'>;
  readonly destinations: Pick<Destinations, 'getUncached'>;
  readonly limits: SliceLimits;
}

/** How late a job is noticed, at most, that another process has stored or left unfinished. */
const POLL_MS = 5_000;
/** Between two looks at slices that are due and in the hands of another process. */
const MIN_PAUSE_MS = 50;
const POSTPONED_MS = 1_000;
/** The most slices of a round, so that a job is never behind the slices of many others for long. */
const MAX_JOBS_PER_ROUND = 8;
/** Counting reads so many deliveries with a statement. */
const MAX_COUNTED = 1_000;

export class ReplayJobWorker {
  readonly #deps: ReplayJobWorkerDeps;
  readonly #rounds: PeriodicTask;

  constructor(deps: ReplayJobWorkerDeps) {
    this.#deps = deps;
    this.#rounds = startPeriodicTask(POLL_MS, (stop) => this.#runRound(stop));
  }

  /** Begins a job that has just been stored. */
  wake(): void {
    this.#rounds.wake();
  }

  /** Counts and logs the end of a job. */
  reportEnd(job: ReplayJobRow): void {
    this.#deps.metrics.endedReplayJobs.inc({ state: job.state });
    logReplayEnd(this.#deps.log, job);
  }

  /** Resolves once no more slices are written. Another process, or the next one, goes on. */
  close(): Promise<void> {
    return this.#rounds.close();
  }

  /** Resolves to the pause before the next round. */
  async #runRound(stop: AbortSignal): Promise<number> {
    const { pool, log } = this.#deps;
    try {
      const jobs = await findNextReplayJobs(pool, MAX_JOBS_PER_ROUND);
      const due = jobs.filter(({ dueInMs }) => dueInMs === 0);
      let advanced = 0;
      for (const job of due) if (await this.#advance(job, stop)) advanced += 1;
      if (advanced > 0) return 0;
      return Math.max(MIN_PAUSE_MS, Math.min(POLL_MS, jobs[0]?.dueInMs ?? POLL_MS));
    } catch (err) {
      log.warn({ err }, 'replays of deliveries cannot be read');
      return POLL_MS;
    }
  }

  /**
   * Writes one slice of a job; false when there was none to write. A job that fails is postponed, so that it
   * does not delay the others.
   */
  async #advance({ id, destinationId, state }: NextReplayJob, stop: AbortSignal): Promise<boolean> {
    const { pool, log, metrics, queue, backlog, destinations, limits } = this.#deps;
    if (stop.aborted) return false;
    try {
      if (state === 'counting') {
        return (await countReplaySlice(pool, id, MAX_COUNTED)) !== undefined;
      }
      // A job that stops has ended: one that was asked for since the owner set the destination anew must
      // not stop because the disabled revision is cached.
      const destination = await destinations.getUncached(destinationId, undefined);
      // Half of the requests that the destination may have, at once and in a second, are left to other deliveries than
      // replayed ones. One is put back even while the circuit breaker is open: without a due delivery the destination is not tried.
      const { deliveriesPerSecond = Infinity } = destination ?? {};
      const requests = Math.min(queue.requestLimit(destinationId), deliveriesPerSecond);
      const maxDue = Math.max(1, Math.floor(requests / 2));
      const slice = await replaySlice(pool, id, destination && { ...destination, maxDue }, limits);
      if (slice === undefined) return false;
      metrics.replayedDeliveries.inc(slice.replayed);
      if (slice.replayed > 0) backlog.add([destinationId]);
      if (slice.ended !== undefined) this.reportEnd(slice.ended);
      return true;
    } catch (err) {
      log.warn({ err, replayId: id, destinationId }, 'a replay of deliveries is postponed');
      await postponeReplayJob(pool, id, POSTPONED_MS);
      return false;
    }
  }
}

/** Logs the end of a job; also for an operator's command, which has no worker. */
export function logReplayEnd(log: Log, job: ReplayJobRow): void {
  const { id: replayId, integrationId, destinationId, state, reason } = job;
  const { matched, replayed, skipped, requestedAt, finishedAt } = job;
  const durationMs = (finishedAt ?? requestedAt).getTime() - requestedAt.getTime();
  const counts = { matched, replayed, skipped, durationMs };
  log.info(
    { replayId, integrationId, destinationId, state, ...(reason && { reason }), ...counts },
    'a replay of deliveries has ended',
  );
}
