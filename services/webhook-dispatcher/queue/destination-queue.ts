/** The part of the delivery queue that belongs to one destination. */
import type { AdaptiveLimit } from './adaptive-limit.ts';
import type { LeasedDelivery } from './delivery.ts';

/** A delivery in the queue. A later lease of the same delivery replaces `delivery` and the time. */
export interface QueueEntry {
  delivery: LeasedDelivery;
  /** By performance.now(). */
  leasedUntilMs: number;
  readonly destination: DestinationQueue;
}

/** How many deliveries are queued per request that may be under way, so that no request waits for a claim. */
export const QUEUED_PER_REQUEST = 4;

export class DestinationQueue {
  readonly limit: AdaptiveLimit;
  readonly waiting: QueueEntry[] = [];
  /** Requests under way. */
  sending = 0;
  /** Results being written. */
  recording = 0;

  constructor(limit: AdaptiveLimit) {
    this.limit = limit;
  }

  /** Deliveries that wait, are under way, or whose results are being written. */
  get size(): number {
    return this.waiting.length + this.sending + this.recording;
  }

  /**
   * Whether the next delivery may be sent now. Deliveries whose results are being written do not use up
   * the limit, but together with the requests under way they are at most twice the limit: an attempt
   * without a stored result is repeated after a crash.
   */
  isReady(nowMs: number): boolean {
    const limit = this.limit.limit(nowMs);
    return (
      this.waiting.length > 0 && this.sending < limit && this.sending + this.recording < 2 * limit
    );
  }

  /** How many more deliveries the queue may get. */
  capacity(nowMs: number): number {
    return capacityOf(this.limit, this.size, nowMs);
  }
}

/**
 * How many more deliveries may be queued for a destination that has `size` of them: none until its queue
 * is half empty, so that one claim brings many deliveries. An intake and a claim that run at once may both fill
 * these places, so the queue holds at most twice as many.
 */
export function capacityOf(limit: AdaptiveLimit, size: number, nowMs: number): number {
  const maxSize = limit.limit(nowMs) * QUEUED_PER_REQUEST;
  return size * 2 <= maxSize ? maxSize - size : 0;
}
