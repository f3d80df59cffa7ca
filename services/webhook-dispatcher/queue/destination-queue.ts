/** The parts of the delivery queue that belong to one destination each. */
import { LRUCache } from 'lru-cache';
import { AdaptiveLimit } from './adaptive-limit.ts';
import type { LeasedDelivery } from './delivery.ts';

/** A delivery in the queue. A later lease of the same delivery replaces `delivery` and the time. */
export interface QueueEntry {
  delivery: LeasedDelivery;
  /** By performance.now(). */
  leasedUntilMs: number;
  /** Until when its request may begin if its destination has a rate limit, by performance.now(). */
  permittedUntilMs: number;
  /** `intakeGrantEndMs` of the delivery. */
  readonly grantedUntilMs: number;
  readonly destination: DestinationQueue;
  /** When it was taken to be sent, by performance.now(). */
  takenAtMs: number;
  /** Whether another delivery may use its slot, too. */
  sharesSlot: boolean;
  /** Whether its destination was known to answer when it was taken. */
  isProven: boolean;
}

/** Of a delivery that waits to be taken, and has no permit. */
export const NOT_TAKEN = {
  takenAtMs: Infinity,
  sharesSlot: false,
  isProven: false,
  permittedUntilMs: 0,
};

/** How many deliveries are queued per request that may be under way, so that no request waits for a claim. */
export const QUEUED_PER_REQUEST = 4;
/** The limits of so many destinations are kept. A destination without one is sent to as a new one. */
const MAX_LIMITS = 20_000;

export class DestinationQueue {
  readonly id: string;
  readonly limit: AdaptiveLimit;
  readonly waiting: QueueEntry[] = [];
  /** Those that hold a slot, in the order in which they were taken. */
  readonly sending = new Set<QueueEntry>();
  /** Results being written. */
  recording = 0;
  /** Whether the destination may hang: all such destinations share a part of the slots (send-slots.ts). */
  isSuspect = false;

  constructor(id: string, limit: AdaptiveLimit) {
    this.id = id;
    this.limit = limit;
  }

  /** Deliveries that wait, are under way, or whose results are being written. */
  get size(): number {
    return this.waiting.length + this.sending.size + this.recording;
  }

  /**
   * Whether the next delivery may be sent now. Deliveries whose results are being written do not use up
   * the limit, but together with the requests under way they are at most twice the limit: an attempt
   * without a stored result is repeated after a crash.
   */
  get isReady(): boolean {
    const { requests } = this.limit;
    const sending = this.sending.size;
    return this.waiting.length > 0 && sending < requests && sending + this.recording < 2 * requests;
  }

  /** How many more deliveries could be sent at once, by the limits of `isReady`, beside those that wait. */
  get sendCapacity(): number {
    const { requests } = this.limit;
    const free = requests - this.sending.size - this.waiting.length;
    return Math.max(0, Math.min(free, 2 * requests - this.size));
  }

  /** Whether the next delivery could be sent now if the results that are being written were recorded. */
  get waitsForResults(): boolean {
    return this.waiting.length > 0 && !this.isReady && this.sending.size < this.limit.requests;
  }

  /** Removes the waiting deliveries for which `isRemoved` is true, and returns them. */
  removeWaiting(isRemoved: (entry: QueueEntry) => boolean): QueueEntry[] {
    const waiting = this.waiting.splice(0);
    const { removed = [], kept = [] } = Object.groupBy(waiting, (entry) =>
      isRemoved(entry) ? 'removed' : 'kept',
    );
    this.waiting.push(...kept);
    return removed;
  }

  /** How many more deliveries the queue may get. */
  get capacity(): number {
    return capacityFor(this.limit, this.size);
  }
}

/**
 * How many more deliveries may be queued for a destination that has `size` of them: none until its queue
 * is half empty, so that one claim brings many deliveries. An intake and a claim that run at the same time may
 * both use up this capacity, so the queue holds at most twice as many. A destination that is not known to answer soon has
 * one more than may be under way, which tells whether a claim has brought all.
 */
export function capacityFor(limit: AdaptiveLimit, size: number): number {
  const { requests, isProven, isSlow } = limit;
  const capacity = isProven && !isSlow ? requests * QUEUED_PER_REQUEST : requests + 1;
  return size * 2 <= capacity ? capacity - size : 0;
}

/** The queues of the destinations that have a delivery here, and the limits of destinations, which outlast their queues. */
export class DestinationQueues {
  readonly #maxRequests: number;
  readonly #queues = new Map<string, DestinationQueue>();
  readonly #limits = new LRUCache<string, AdaptiveLimit>({ max: MAX_LIMITS });

  /** To one destination, `maxRequests` may be under way at once. */
  constructor(maxRequests: number) {
    this.#maxRequests = maxRequests;
  }

  /** The destinations that have a queue. */
  get ids(): Iterable<string> {
    return this.#queues.keys();
  }

  /** The destinations that were sent to lately, so that their limits of requests are kept. */
  get knownIds(): Iterable<string> {
    return this.#limits.keys();
  }

  all(): DestinationQueue[] {
    return [...this.#queues.values()];
  }

  find(id: string): DestinationQueue | undefined {
    return this.#queues.get(id);
  }

  /** Adds a queue for a destination that has none. */
  add(id: string): DestinationQueue {
    const limit = this.limitOf(id);
    this.#limits.set(id, limit);
    const queue = new DestinationQueue(id, limit);
    this.#queues.set(id, queue);
    return queue;
  }

  removeIfEmpty({ id, size }: DestinationQueue): void {
    if (size === 0) this.#queues.delete(id);
  }

  /** The limit of the destination, or that of a new one when none is kept. */
  limitOf(id: string): AdaptiveLimit {
    return this.#limits.get(id) ?? this.limitOfNew();
  }

  limitOfNew(): AdaptiveLimit {
    return new AdaptiveLimit(this.#maxRequests);
  }
}
