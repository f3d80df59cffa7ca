/**
 * The queue of the deliveries that this process has leased. Intake, claimer and result recorder add
 * deliveries; the sender takes the deliveries that may be sent, and removes them once their results are
 * recorded. The queue has no reference to these parts: it calls a listener and signals.
 */
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import { LRUCache } from 'lru-cache';
import { AdaptiveLimit, type BreakerState } from './adaptive-limit.ts';
import { Backlog } from './backlog.ts';
import { Capacity } from './capacity.ts';
import type { LeasedDelivery } from './delivery.ts';
import {
  capacityOf,
  DestinationQueue,
  QUEUED_PER_REQUEST,
  type QueueEntry,
} from './destination-queue.ts';

export interface DeliveryQueueOptions {
  readonly leaseMs: number;
  /** Requests under way at once, to all destinations together. */
  readonly maxInFlight: number;
  readonly maxInFlightPerDestination: number;
  /** Gets the deliveries that are added after `close`, so that their leases can be released. */
  onRefused(deliveries: readonly LeasedDelivery[]): void;
}

/** A delivery whose lease ends within this time is not sent: another process may claim it meanwhile. */
const LEASE_MARGIN_MS = 500;
const MAX_LIMITS = 10_000;
const MAX_DELIVERED = 10_000;

export class DeliveryQueue {
  readonly backlog = new Backlog();
  readonly #options: DeliveryQueueOptions;
  readonly #entries = new Map<string, QueueEntry>();
  readonly #destinations = new Map<string, DestinationQueue>();
  /** Kept while their queues are empty, so that an open circuit breaker is not forgotten. */
  readonly #limits = new LRUCache<string, AdaptiveLimit>({ max: MAX_LIMITS });
  /** Destinations that may have a delivery ready, in the order of their turns. */
  readonly #turns = new Set<DestinationQueue>();
  /**
   * Recently delivered: the answer to a claim that ran before the result was written may come after it.
   * The value is the number of replays, because a later replay is to be sent.
   */
  readonly #delivered: LRUCache<string, number>;
  readonly #removed = new WakeSignal();
  #onReady: () => void = () => {};
  #sending = 0;
  #closed = false;

  constructor(options: DeliveryQueueOptions) {
    this.#options = options;
    this.#delivered = new LRUCache({ max: MAX_DELIVERED, ttl: options.leaseMs });
  }

  /** Deliveries that wait, are under way, or whose results are being written. */
  get size(): number {
    return this.#entries.size;
  }

  /** Calls `listener` whenever a delivery may have become ready; the listener takes it by `takeReady`. */
  onReady(listener: () => void): void {
    this.#onReady = listener;
  }

  /**
   * Adds deliveries that were leased at `leasedAtMs` (performance.now()). A delivery that is in the
   * queue, because its lease ended before it could be renewed, is not sent again: it goes on under the
   * new lease. A delivery that was delivered is not added.
   */
  add(deliveries: readonly LeasedDelivery[], leasedAtMs: number): void {
    if (this.#closed) {
      if (deliveries.length > 0) this.#options.onRefused(deliveries);
      return;
    }
    const leasedUntilMs = leasedAtMs + this.#options.leaseMs;
    for (const delivery of deliveries) {
      if (this.#delivered.get(delivery.id) === delivery.replays) continue;
      const queued = this.#entries.get(delivery.id);
      if (queued !== undefined) {
        queued.delivery = delivery;
        queued.leasedUntilMs = leasedUntilMs;
        continue;
      }
      const destination = this.#destinationOf(delivery.destinationId);
      const entry = { delivery, leasedUntilMs, destination };
      this.#entries.set(delivery.id, entry);
      destination.waiting.push(entry);
      this.#turns.add(destination);
    }
    this.#onReady();
  }

  /**
   * Takes the next delivery that may be sent; `undefined` when there is none. Destinations take turns
   * (round robin), so that many deliveries to one destination do not delay those to another.
   */
  takeReady(nowMs: number): QueueEntry | undefined {
    for (const destination of this.#turns) {
      if (this.#closed || this.#sending >= this.#options.maxInFlight) return undefined;
      this.#turns.delete(destination);
      const entry = this.#shiftReady(destination, nowMs);
      if (entry === undefined) continue;
      this.#turns.add(destination);
      destination.sending += 1;
      this.#sending += 1;
      return entry;
    }
    return undefined;
  }

  /**
   * Ends the request of a delivery. `outcome` adapts the limit of the destination; 'not_sent' says
   * nothing about the destination.
   */
  finishRequest({ destination }: QueueEntry, outcome: 'succeeded' | 'failed' | 'not_sent'): void {
    if (outcome === 'succeeded') destination.limit.succeeded();
    else if (outcome === 'failed') destination.limit.failed(performance.now());
    destination.sending -= 1;
    this.#sending -= 1;
    destination.recording += 1;
    this.#turns.add(destination);
    this.#onReady();
  }

  /** Removes a delivery whose result is recorded. */
  remove({ delivery, destination }: QueueEntry, delivered: boolean): void {
    const { id, destinationId, replays } = delivery;
    if (delivered) this.#delivered.set(id, replays);
    destination.recording -= 1;
    this.#entries.delete(id);
    if (destination.size === 0) this.#destinations.delete(destinationId);
    else this.#turns.add(destination);
    this.#onReady();
    this.backlog.useFreedCapacity(destinationId, destination.capacity(performance.now()) > 0);
    this.#removed.signal();
  }

  /** Queues a turn for every destination: time alone may have made a delivery ready. */
  retryAll(): void {
    for (const destination of this.#destinations.values()) this.#turns.add(destination);
    this.#onReady();
  }

  /** Removes the waiting deliveries of disabled destinations. */
  drop(destinationIds: readonly string[]): void {
    for (const id of destinationIds) {
      const waiting = this.#destinations.get(id)?.waiting.splice(0) ?? [];
      for (const { delivery } of waiting) this.#entries.delete(delivery.id);
    }
  }

  /** How many more deliveries may be leased now. */
  capacity(): Capacity {
    const nowMs = performance.now();
    const maxSize = this.#options.maxInFlight * QUEUED_PER_REQUEST;
    const total = this.#closed ? 0 : Math.max(0, maxSize - this.#entries.size);
    const byDestination = new Map<string, number>();
    for (const [id, limit] of this.#limits.entries()) {
      byDestination.set(id, capacityOf(limit, this.#destinations.get(id)?.size ?? 0, nowMs));
    }
    const initial = new AdaptiveLimit(this.#options.maxInFlightPerDestination);
    return new Capacity(total, byDestination, capacityOf(initial, 0, nowMs));
  }

  /** How many requests to a destination may be under way now; 0 while its circuit breaker is open. */
  requestLimit(destinationId: string): number {
    const limit =
      this.#limits.get(destinationId) ?? new AdaptiveLimit(this.#options.maxInFlightPerDestination);
    return limit.limit(performance.now());
  }

  /** The entries whose leases end before `timeMs` (by performance.now()). */
  expiringBefore(timeMs: number): QueueEntry[] {
    return [...this.#entries.values()].filter(({ leasedUntilMs }) => leasedUntilMs < timeMs);
  }

  /** Whether time alone, or the end of a request, may give capacity to deliveries of the queue or the database. */
  isWaiting(): boolean {
    const { open, half_open } = this.breakerStates();
    return this.size > 0 || !this.backlog.isEmpty || open + half_open > 0;
  }

  breakerStates(): Record<BreakerState, number> {
    const nowMs = performance.now();
    const counts = { closed: 0, open: 0, half_open: 0 };
    for (const limit of this.#limits.values()) counts[limit.state(nowMs)] += 1;
    return counts;
  }

  /** Resolves when a delivery was removed, or after `timeoutMs`. */
  waitForRemoval(timeoutMs: number): Promise<void> {
    return this.#removed.wait(timeoutMs);
  }

  /** Resolves when the queue is empty, or after `timeoutMs`. */
  async waitUntilEmpty(timeoutMs: number): Promise<void> {
    const deadlineMs = performance.now() + timeoutMs;
    while (this.size > 0 && performance.now() < deadlineMs) {
      await this.waitForRemoval(deadlineMs - performance.now());
    }
  }

  /** Ends sending and removes the waiting deliveries, whose leases are then to be released. */
  close(): LeasedDelivery[] {
    this.#closed = true;
    const waiting = [...this.#destinations.values()].flatMap(({ waiting }) => waiting.splice(0));
    for (const { delivery } of waiting) this.#entries.delete(delivery.id);
    return waiting.map(({ delivery }) => delivery);
  }

  #destinationOf(id: string): DestinationQueue {
    const known = this.#destinations.get(id);
    if (known !== undefined) return known;
    let limit = this.#limits.get(id);
    if (limit === undefined) {
      limit = new AdaptiveLimit(this.#options.maxInFlightPerDestination);
      this.#limits.set(id, limit);
    }
    const destination = new DestinationQueue(limit);
    this.#destinations.set(id, destination);
    return destination;
  }

  #shiftReady(destination: DestinationQueue, nowMs: number): QueueEntry | undefined {
    while (destination.isReady(nowMs)) {
      const entry = destination.waiting.shift();
      if (entry === undefined || nowMs <= entry.leasedUntilMs - LEASE_MARGIN_MS) return entry;
      this.#entries.delete(entry.delivery.id);
    }
    return undefined;
  }
}
