/** Sends every delivery that the queue has ready, and has its result recorded. */
import type { DeliveryQueue, RequestResult } from '../queue/delivery-queue.ts';
import type { QueueEntry } from '../queue/destination-queue.ts';
import type { Attempt, AttemptResult } from './attempt.ts';
import type { DeferredResults } from './deferred-results.ts';
import type { ResultRecorder } from './result-recorder.ts';

export interface SenderDeps {
  readonly queue: DeliveryQueue;
  readonly attempt: Attempt;
  readonly deferredResults: Pick<DeferredResults, 'defer' | 'recordDeferredOf'>;
  readonly recorder: Pick<ResultRecorder, 'record'>;
}

/** Sends until the queue is closed. */
export function startSender({ queue, attempt, deferredResults, recorder }: SenderDeps): void {
  const send = async (entry: QueueEntry): Promise<void> => {
    // The process may have been stopped since the delivery was taken, and another one may have its lease.
    const isLeased = () => performance.now() < entry.leasedUntilMs;
    const attempted = await attempt(entry.delivery, isLeased);
    const lacksContent = attempted === 'lacks_content';
    const result = lacksContent ? undefined : attempted;
    queue.finishRequest(entry, requestResultOf(result));
    if (result?.state === 'delivered') {
      await deferredResults.defer(entry.delivery, queue.isCapacityNeeded(entry));
    }
    // Recorded under the current lease: the lease under which the attempt began may have ended.
    const { delivery } = entry;
    await recorder.record(
      result === undefined
        ? { untried: { delivery, lacksContent } }
        : { result: { ...result, delivery } },
    );
    queue.remove(entry, result?.state === 'delivered');
  };

  queue.onReady(() => {
    const nowMs = performance.now();
    for (let entry = queue.takeReady(nowMs); entry; entry = queue.takeReady(nowMs)) {
      void send(entry);
    }
  });
  queue.onCapacityNeeded((destinationIds) => deferredResults.recordDeferredOf(destinationIds));
}

/** Undefined when no request was sent: the result then has no revision, and tells nothing about the destination. */
function requestResultOf(result: AttemptResult | undefined): RequestResult | undefined {
  if (result?.revision === undefined) return undefined;
  const { state, revision, durationMs } = result;
  return { succeeded: state === 'delivered', revision, durationMs };
}
