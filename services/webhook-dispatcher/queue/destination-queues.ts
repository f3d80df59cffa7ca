/** The queues of the destinations that have a delivery here, and the limits of destinations, which outlast their queues. */
import { LRUCache } from 'lru-cache';
import { AdaptiveLimit } from './adaptive-limit.ts';
import { DestinationQueue } from './destination-queue.ts';

const MAX_LIMITS = 20_000;

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

  /** The destinations whose limits are kept. */
  get limitedIds(): Iterable<string> {
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
