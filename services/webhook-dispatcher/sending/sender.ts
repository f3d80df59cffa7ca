/** Sends every delivery that the queue has ready, and has its result recorded. */
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import { isRefusal } from '../egress/exchange.ts';
import type { DeliveryQueue, RequestResult } from '../queue/delivery-queue.ts';
import type { QueueEntry } from '../queue/destination-queue.ts';
import type { DestinationRate } from '../store/rates.ts';
import type { Attempt, AttemptRecord } from './attempt.ts';
import type { DeferredResults } from './deferred-results.ts';
import type { ResultRecorder } from './result-recorder.ts';

export interface SenderDeps {
  readonly queue: DeliveryQueue;
  readonly attempt: Attempt;
  readonly deferredResults: Pick<DeferredResults, 'defer' | 'recordDeferredOf'>;
  readonly recorder: Pick<ResultRecorder, 'record'>;
  /** Resolves to the time until which a new permit lasts; undefined when there is none soon. */
  takePermit(rate: DestinationRate): Promise<number | undefined>;
}

/** A request becomes slow, and then shares its slot, by the passing of time, which no event signals. */
const TURN_MS = 250;

/** Sends until the queue is closed, and gives all destinations a turn each TURN_MS until `close`. */
export function startSender(deps: SenderDeps): Pick<PeriodicTask, 'close'> {
  const { queue, attempt, deferredResults, recorder } = deps;
  const send = async (entry: QueueEntry): Promise<void> => {
    // Since the delivery was taken, the process may have been stopped, and another one may have its lease; or its destination was
    // paused while the content was looked up or the connection was opened.
    const maySend = () => queue.maySend(entry, performance.now());
    const hasPermit = () => performance.now() < entry.permittedUntilMs;
    const takePermit = async (rate: DestinationRate) => {
      entry.permittedUntilMs = (await deps.takePermit(rate)) ?? 0;
      return hasPermit();
    };
    const { delivery, grantedUntilMs } = entry;
    const permission = { maySend, hasPermit, takePermit, grantedUntilMs };
    const attempted = await attempt(delivery, permission);
    queue.finishRequest(entry, requestResultOf(attempted));
    const isDelivered = attempted.kind === 'tried' && attempted.state === 'delivered';
    if (isDelivered) await deferredResults.defer(entry.delivery, queue.isResultUrgent(entry));
    // Recorded under the current lease: the lease under which the attempt began may have ended.
    await recorder.record({ ...attempted, delivery: entry.delivery });
    queue.remove(entry, isDelivered);
  };

  queue.onReady(() => {
    const nowMs = performance.now();
    for (let entry = queue.takeReady(nowMs); entry; entry = queue.takeReady(nowMs)) {
      void send(entry);
    }
  });
  queue.onCapacityNeeded((destinationIds) => deferredResults.recordDeferredOf(destinationIds));
  return startPeriodicTask(TURN_MS, async (stop) => {
    await queue.waitWhileEmpty(stop);
    queue.queueTurns();
  });
}

/** Undefined for a result without a revision, which tells nothing about the destination. */
function requestResultOf(attempted: AttemptRecord): RequestResult | undefined {
  if (attempted.kind === 'untried' || attempted.revision === undefined) return undefined;
  const { state, outcome, revision, durationMs } = attempted;
  const refused = isRefusal(outcome) ? 'refused' : 'failed';
  return { verdict: state === 'delivered' ? 'accepted' : refused, revision, durationMs };
}
