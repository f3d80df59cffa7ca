/**
 * One slice of a replay job: puts the next deliveries of a job back into the queue. The slice is one transaction
 * that holds the lock of the job's row: a process that dies has written it whole or not at all, and two
 * processes never write the same slice.
 */
import type { Database } from '@creditlane/postgres/database';
import { runQuery } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import { enableDestinationsQuery, isDestinationDisabled } from '../store/destinations.ts';
import { endTimesOf } from '../store/history/end-times.ts';
import { beginReplays, MAX_REPLAYS, type Replay } from '../store/replay-delivery.ts';
import { endReplayJob, lockReplayJob, type ReplayJobRow } from '../store/replay-jobs.ts';
import {
  advanceReplayJob,
  countPending,
  type LockedDelivery,
  lockLanes,
  type SearchedDelivery,
  searchReplaySlice,
} from '../store/replay-slices.ts';

export interface SliceLimits {
  /** The most replays to one destination in a second. */
  readonly replaysPerSecond: number;
  readonly leaseMs: number;
}

/** The destination of a job as it is now. */
export interface ReplayDestination {
  readonly revision: number;
  /** While so many deliveries to it are to be sent, none is replayed. */
  readonly maxDue: number;
}

/** What a slice did. */
export interface Slice {
  readonly replayed: number;
  /** The job if it has ended. */
  readonly ended: ReplayJobRow | undefined;
}

/** With the rate, the largest number of deliveries of a slice. */
const SLICES_PER_SECOND = 4;
/** After a slice that has replayed any. */
const MIN_DELAY_MS = 50;
/** After a slice that found no capacity. */
const NO_CAPACITY_DELAY_MS = 250;
/** How many deliveries are searched for those of an event. */
const MAX_SEARCHED = 500;
/**
 * While so many deliveries to the destination wait for earlier ones of their applications, none is replayed: a
 * slice locks those that are earlier than its own.
 */
const MAX_WAITING = 1_000;

/**
 * Replays the next deliveries of a job. Undefined when the slice is not due, or another process writes it.
 *
 * @param destination undefined when it was removed
 */
export function replaySlice(
  pool: Database['pool'],
  jobId: string,
  destination: ReplayDestination | undefined,
  { replaysPerSecond, leaseMs }: SliceLimits,
): Promise<Slice | undefined> {
  return inTransaction(pool, async (tx) => {
    const job = await lockReplayJob(tx, jobId);
    if (job === undefined) return undefined;
    const { id, destinationId, deliveryState, event } = job;
    const stop = async (reason: string) => {
      return { replayed: 0, ended: await endReplayJob(tx, id, 'stopped', reason) };
    };
    if (destination === undefined) return stop('destination_removed');
    const { revision, maxDue } = destination;
    if (await isDestinationDisabled(tx, { destinationId, revision })) {
      return stop('destination_disabled');
    }

    const size = Math.ceil(replaysPerSecond / SLICES_PER_SECOND);
    const pending = await countPending(tx, destinationId, {
      maxDue,
      maxWaiting: MAX_WAITING,
      leaseMs,
    });
    const capacity = pending.waiting < MAX_WAITING ? Math.min(size, maxDue - pending.due) : 0;
    if (capacity <= 0) {
      const delayMs = NO_CAPACITY_DELAY_MS;
      await advanceReplayJob(tx, id, { replayed: 0, skipped: 0, last: undefined, delayMs });
      return { replayed: 0, ended: undefined };
    }

    const maxSearched = event === null ? capacity : MAX_SEARCHED;
    const searched = await searchReplaySlice(tx, id, maxSearched);
    const { chosen, last, isEnd } = chooseReplays(searched, capacity, maxSearched);
    const ids = chosen.map((delivery) => delivery.id);
    const endTimes = endTimesOf(chosen.map(({ settledAt }) => settledAt));
    const locked = await lockLanes(tx, destinationId, ids, endTimes);
    const { replays, skipped } = planReplays(locked, ids, deliveryState);
    await beginReplays(tx, replays, endTimes);
    // What is pending to a destination whose earlier revision is disabled would be ended.
    await runQuery(tx, enableDestinationsQuery(new Map([[destinationId, revision]])));
    const { length: replayed } = replays;
    const delayMs = replayed && Math.max(MIN_DELAY_MS, (replayed * 1_000) / replaysPerSecond);
    await advanceReplayJob(tx, id, { replayed, skipped, last, delayMs });
    const ended = isEnd ? await endReplayJob(tx, id, 'completed') : undefined;
    return { replayed, ended };
  });
}

/** Of the deliveries searched, the first `capacity` that match, and how far the job has come with them. */
function chooseReplays(
  searched: readonly SearchedDelivery[],
  capacity: number,
  maxSearched: number,
) {
  const matching = searched.filter(({ matches }) => matches).slice(0, capacity);
  const isFull = matching.length === capacity;
  return {
    chosen: matching,
    last: isFull ? matching.at(-1) : searched.at(-1),
    isEnd: !isFull && searched.length < maxSearched,
  };
}

/**
 * Which of the wanted deliveries are replayed, and which of these wait for an earlier one of their lane. Of
 * the wanted ones, those that cannot be sent are skipped, and those that were replayed alone meanwhile are
 * left out.
 *
 * @param locked lane by lane, in the order of the lane
 */
export function planReplays(
  locked: readonly LockedDelivery[],
  wantedIds: readonly string[],
  wantedState: 'delivered' | 'dead',
): { replays: Replay[]; skipped: number } {
  const wanted = new Set(wantedIds);
  const busyLanes = new Set<string>();
  const replays: Replay[] = [];
  let skipped = 0;
  for (const { id, orderingKey, state, holding, replays: earlier, unsendable } of locked) {
    if (wanted.has(id) && state === wantedState) {
      if (unsendable || earlier >= MAX_REPLAYS) {
        skipped += 1;
        continue;
      }
      replays.push({ id, waits: busyLanes.has(orderingKey) });
      busyLanes.add(orderingKey);
    } else if ((state === 'waiting' || state === 'due') && holding) {
      busyLanes.add(orderingKey);
    }
  }
  return { replays, skipped };
}
