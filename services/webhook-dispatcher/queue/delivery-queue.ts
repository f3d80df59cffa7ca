/**
 * The queue of the deliveries that this process has leased. Intake, claimer and result recorder add
 * deliveries; the sender takes the deliveries that may be sent, and removes them once their results are
 * recorded. The queue has no reference to these parts: it calls a listener and signals.
 */
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import { createExpiringCache } from '@creditlane/runtime/expiring-cache';
import type { LRUCache } from 'lru-cache';
import type { OpenBreaker } from '../store/breakers.ts';
import type { DestinationRate } from '../store/rates.ts';
import type { Backlog, ClaimCapacity } from './backlog.ts';
import { intakeGrantEndMs, type LeasedDelivery } from './delivery.ts';
import {
  type DestinationQueue,
  DestinationQueues,
  NOT_TAKEN,
  type QueueEntry,
} from './destination-queue.ts';
import type { OpenBreakers } from './open-breakers.ts';
import { QueueCapacity } from './queue-capacity.ts';
import type { DestinationRates } from './rates/destination-rates.ts';
import { isSlow, SendSlots } from './send-slots.ts';
import { Turns } from './turns.ts';

export interface DeliveryQueueDeps {
  readonly breakers: OpenBreakers;
  readonly rates: DestinationRates;
  /** The queue listens for destinations that are added to it. */
  readonly backlog: Backlog;
  readonly leaseMs: number;
  /** Requests under way at once, to all destinations together; beside them, twice as many that take long. */
  readonly maxInFlight: number;
  readonly maxInFlightPerDestination: number;
  /** Gets the deliveries that the queue does not keep, so that their leases can be released. */
  onRefused(deliveries: readonly LeasedDelivery[]): void;
}

/** A delivery whose lease ends within this time is not sent: another process may claim it meanwhile. */
const LEASE_MARGIN_MS = 500;
const MAX_DELIVERED = 10_000;

/** How the receiver has answered. */
export interface RequestResult {
  /** `refused`: it works, and does not take this delivery (`isRefusal`). */
  readonly verdict: 'accepted' | 'refused' | 'failed';
  /** Of the destination that the request was sent to. */
  readonly revision: number;
  readonly durationMs: number;
}

/** Gets the destinations whose capacity is needed; undefined when that of any destination is. */
type CapacityNeededListener = (destinationIds: ReadonlySet<string> | undefined) => void;

export type BreakerState = 'closed' | 'open' | 'half_open' | 'paused';

export class DeliveryQueue {
  readonly #deps: DeliveryQueueDeps;
  readonly #breakers: OpenBreakers;
  readonly #rates: DestinationRates;
  readonly #backlog: Backlog;
  readonly #entries = new Map<string, QueueEntry>();
  readonly #destinations: DestinationQueues;
  /** Of destinations that may have a delivery ready. */
  readonly #turns: Turns;
  /**
   * Recently delivered: the answer to a claim that ran before the result was written may come after it.
   * The value is the number of replays, because a later replay is to be sent.
   */
  readonly #delivered: LRUCache<string, number>;
  readonly #added = new WakeSignal();
  readonly #removed = new WakeSignal();
  readonly #slots: SendSlots;
  readonly #capacity: QueueCapacity;
  #onReady: () => void = () => {};
  #onCapacityNeeded: CapacityNeededListener = () => {};
  #closed = false;

  constructor(deps: DeliveryQueueDeps) {
    const { breakers, rates, backlog, maxInFlight } = deps;
    this.#deps = deps;
    this.#breakers = breakers;
    this.#rates = rates;
    this.#backlog = backlog;
    this.#turns = new Turns(rates);
    this.#destinations = new DestinationQueues(deps.maxInFlightPerDestination);
    this.#slots = new SendSlots(maxInFlight);
    this.#capacity = new QueueCapacity({
      maxInFlight,
      destinations: this.#destinations,
      slots: this.#slots,
      breakers,
      rates,
      backlog,
    });
    this.#delivered = createExpiringCache(MAX_DELIVERED, deps.leaseMs);
    backlog.onAdded((ids) => {
      this.#onCapacityNeeded(this.#capacityLeft === 0 ? undefined : ids);
      rates.addClaimable(ids);
    });
  }

  /** Deliveries that wait, are under way, or whose results are being written. */
  get size(): number {
    return this.#entries.size;
  }

  /** Calls `listener` whenever a delivery may have become ready; the listener takes it by `takeReady`. */
  onReady(listener: () => void): void {
    this.#onReady = listener;
  }

  /** Calls `listener` whenever a delivery may wait because deliveries whose results are not recorded yet use up the capacity. */
  onCapacityNeeded(listener: CapacityNeededListener): void {
    this.#onCapacityNeeded = listener;
  }

  /**
   * Adds deliveries that were leased at `leasedAtMs` (performance.now()), and have permits until `permittedUntilMs` or none. A
   * delivery that is in the queue, because its lease ended before it could be renewed, is not sent again: it goes on under the
   * new lease. Not added are deliveries that were delivered; replays while a request from before the replay is under way, whose
   * result must not count as theirs; to a destination with an open circuit breaker, all but its probe; and to a limited
   * destination, those without a permit, except its probe.
   */
  add(deliveries: readonly LeasedDelivery[], leasedAtMs: number, permittedUntilMs = 0): void {
    const refused: LeasedDelivery[] = [];
    const leasedUntilMs = leasedAtMs + this.#deps.leaseMs;
    for (const delivery of deliveries) {
      const { id, destinationId, replays } = delivery;
      const queued = this.#entries.get(id);
      const isTaken = queued !== undefined && queued.takenAtMs < Infinity;
      if (this.#closed || (isTaken && queued.delivery.replays < replays)) {
        this.#breakers.giveBackProbe(destinationId, id);
        refused.push(delivery);
      } else if (queued !== undefined) {
        queued.delivery = delivery;
        queued.leasedUntilMs = leasedUntilMs;
        queued.permittedUntilMs = Math.max(queued.permittedUntilMs, permittedUntilMs);
      } else if (this.#delivered.get(id) !== replays) {
        const lacksPermit = this.#rates.has(destinationId) && permittedUntilMs === 0;
        const isHeldBack = lacksPermit || this.#breakers.has(destinationId);
        if (isHeldBack && !this.#breakers.isProbe(destinationId, id)) {
          refused.push(delivery);
          continue;
        }
        const destination = this.#destinationOf(destinationId);
        const grantedUntilMs = intakeGrantEndMs(delivery, leasedAtMs);
        const until = { leasedUntilMs, permittedUntilMs, grantedUntilMs };
        const entry = { ...NOT_TAKEN, delivery, ...until, destination };
        this.#entries.set(id, entry);
        destination.waiting.push(entry);
        this.#turns.add(destination);
      }
    }
    if (refused.length > 0) this.#deps.onRefused(refused);
    this.#added.signal();
    this.#onReady();
  }

  /** Takes the next delivery that may be sent; `undefined` when there is none. Destinations take turns. */
  takeReady(nowMs: number): QueueEntry | undefined {
    while (!this.#closed && !this.#slots.isFull) {
      // A destination that may not start a request has its next turn by `queueTurns`.
      const destination = this.#turns.next();
      if (destination === undefined) return undefined;
      if (!this.#slots.mayStart(destination)) continue;
      const entry = this.#shiftReady(destination, nowMs);
      if (entry === undefined) {
        if (destination.waitsForResults) this.#onCapacityNeeded(new Set([destination.id]));
        continue;
      }
      this.#turns.add(destination);
      this.#slots.take(entry, nowMs);
      return entry;
    }
    return undefined;
  }

  /** Whether the request of a delivery that was taken may still begin: its lease lasts, and its destination is not paused. */
  maySend({ delivery, leasedUntilMs }: QueueEntry, nowMs: number): boolean {
    return nowMs < leasedUntilMs && this.#breakers.maySend(delivery.destinationId, delivery.id);
  }

  /**
   * Ends the request of a delivery. The result adapts the limit of the destination; without one, nothing was
   * sent, which says nothing about the destination.
   */
  finishRequest(entry: QueueEntry, result: RequestResult | undefined): void {
    const { destination, delivery } = entry;
    const { id, limit } = destination;
    const nowMs = performance.now();
    this.#slots.free(entry);
    const wasSlow = result !== undefined && isSlow(result.durationMs);
    destination.recording += 1;
    if (result === undefined) {
      this.#breakers.giveBackProbe(id, delivery.id);
    } else if (result.verdict !== 'failed') {
      this.#breakers.close(id, delivery.id);
      if (result.verdict === 'accepted') limit.succeeded(wasSlow);
      else limit.refused(wasSlow);
    } else {
      const opens = limit.failed(wasSlow);
      if (this.#breakers.has(id)) this.#breakers.fail(id, delivery.id);
      else if (opens) this.#breakers.open(id, result.revision);
    }
    this.#updateSuspects([destination], nowMs);
    this.#turns.add(destination);
    this.#onReady();
    this.#rates.useFreedCapacity(id);
  }

  /**
   * Whether the result of a delivery is to be recorded at once: while the next delivery to its destination waits for
   * results, and while the destination is slow, suspect or not known to answer. Its capacity is so small then (`capacityFor`)
   * that a result which is not recorded leaves the next claim less of it.
   */
  isResultUrgent({ destination }: QueueEntry): boolean {
    const { limit, isSuspect, waitsForResults } = destination;
    return !limit.isProven || limit.isSlow || isSuspect || waitsForResults;
  }

  /** Removes a delivery whose result is recorded. */
  remove({ delivery, destination }: QueueEntry, delivered: boolean): void {
    const { id, destinationId, replays } = delivery;
    if (delivered) this.#delivered.set(id, replays);
    destination.recording -= 1;
    this.#entries.delete(id);
    this.#destinations.removeIfEmpty(destination);
    if (destination.size > 0) this.#turns.add(destination);
    this.#onReady();
    this.#backlog.useFreedCapacity(destinationId, destination.capacity > 0);
    this.#rates.useFreedCapacity(destinationId);
    this.#removed.signal();
  }

  /** Queues a turn for every destination: time alone may have changed what may be sent. */
  queueTurns(): void {
    const destinations = this.#destinations.all();
    this.#updateSuspects(destinations, performance.now());
    for (const destination of destinations) this.#turns.add(destination);
    this.#onReady();
  }

  /** Removes the waiting deliveries of disabled destinations. */
  drop(destinationIds: readonly string[]): void {
    for (const id of destinationIds) {
      const waiting = this.#destinations.find(id)?.waiting.splice(0) ?? [];
      for (const entry of waiting) this.#forget(entry);
    }
  }

  /** Removes the waiting deliveries to a destination with these ids, which have ended. Those under way stay. */
  dropEnded(destinationId: string, ids: ReadonlySet<string>): void {
    const destination = this.#destinations.find(destinationId);
    if (destination === undefined) return;
    const isEnded = ({ delivery }: QueueEntry) => ids.has(delivery.id);
    for (const entry of destination.removeWaiting(isEnded)) this.#forget(entry);
  }

  /**
   * Returns the function by which an intake takes the capacity for one more delivery to a destination; the function returns
   * false when none is left.
   */
  intakeCapacity(): (destinationId: string) => boolean {
    return this.#capacity.forIntake(this.#capacityLeft);
  }

  /**
   * How many more deliveries a claim may lease now. Named are the destinations with a delivery here or a backlog; any other
   * one may have as many as a new destination.
   */
  claimCapacity(): ClaimCapacity {
    return this.#capacity.forClaim(this.#capacityLeft);
  }

  /** How many more deliveries to limited destinations a claim may lease now, as `claimCapacity`. */
  limitedCapacity(): ClaimCapacity {
    return this.#capacity.forLimitedClaim(this.#capacityLeft);
  }

  /** How many requests to a destination may be under way now. */
  requestLimit(destinationId: string): number {
    return this.#destinations.limitOf(destinationId).requests;
  }

  /** How many requests to destinations may begin that may hang. */
  get suspectsLeft(): number {
    return this.#closed ? 0 : this.#slots.suspectsLeft;
  }

  /** Replaces what is known of the open circuit breakers by what the database holds for all replicas. */
  shareBreakers(stored: readonly OpenBreaker[]): void {
    const closed = this.#breakers.replace(stored);
    this.#updateSuspects(this.#destinations.all(), performance.now());
    if (closed.length > 0) this.#backlog.add(closed);
  }

  /** Replaces what is known of rate limits by what the database holds for all replicas. */
  shareRates(stored: readonly DestinationRate[]): void {
    const removed = this.#rates.replace(stored);
    if (removed.length > 0) this.#backlog.add(removed);
  }

  /** The entries whose leases end before `timeMs` (by performance.now()). */
  expiringBefore(timeMs: number): QueueEntry[] {
    return [...this.#entries.values()].filter(({ leasedUntilMs }) => leasedUntilMs < timeMs);
  }

  /** The numbers of destinations whose circuit breakers are open, or that are paused, for all replicas, and closed in this process. */
  breakerStates(): Record<BreakerState, number> {
    const { size, probed, untried } = this.#breakers;
    const paused = this.#breakers.paused.length;
    const closed = [...this.#destinations.knownIds].filter((id) => !this.#breakers.has(id)).length;
    return { closed, open: size - probed - paused - untried, half_open: probed, paused };
  }

  /** Resolves when a delivery was removed, or after `timeoutMs`. */
  waitForRemoval(timeoutMs: number): Promise<void> {
    return this.#removed.wait(timeoutMs);
  }

  /** Resolves when the queue has a delivery, or when `stop` aborts. */
  async waitWhileEmpty(stop: AbortSignal): Promise<void> {
    while (this.size === 0 && !stop.aborted) await this.#added.wait(Infinity, stop);
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
    const waiting = this.#destinations.all().flatMap(({ waiting }) => waiting.splice(0));
    for (const entry of waiting) this.#forget(entry);
    return waiting.map(({ delivery }) => delivery);
  }

  get #capacityLeft(): number {
    return this.#closed ? 0 : this.#capacity.left(this.#entries.size);
  }

  #destinationOf(id: string): DestinationQueue {
    const known = this.#destinations.find(id);
    if (known !== undefined) return known;
    const destination = this.#destinations.add(id);
    this.#slots.setSuspect(destination, this.#breakers.has(id));
    return destination;
  }

  /**
   * Updates which of the destinations are suspect. The deliveries that wait for one that has just become suspect are given
   * back: they could not be sent for long, and would use up the capacity for others. The probe of a destination stays.
   */
  #updateSuspects(destinations: readonly DestinationQueue[], nowMs: number): void {
    const released: LeasedDelivery[] = [];
    for (const destination of destinations) {
      const { id, isSuspect: wasSuspect, waiting } = destination;
      const isOpen = this.#breakers.has(id);
      const isSuspect = this.#slots.shareLongHeld(destination, nowMs) || isOpen;
      this.#slots.setSuspect(destination, isSuspect);
      if (waiting.length === 0 || !(isOpen || (isSuspect && !wasSuspect))) continue;
      const isNoProbe = ({ delivery }: QueueEntry) => !this.#breakers.isProbe(id, delivery.id);
      for (const { delivery } of destination.removeWaiting(isNoProbe)) {
        this.#entries.delete(delivery.id);
        released.push(delivery);
      }
      this.#destinations.removeIfEmpty(destination);
      if (!isOpen) this.#backlog.add([id]);
    }
    if (released.length > 0) this.#deps.onRefused(released);
  }

  #shiftReady(destination: DestinationQueue, nowMs: number): QueueEntry | undefined {
    while (destination.isReady) {
      const entry = destination.waiting.shift();
      if (entry === undefined || nowMs <= entry.leasedUntilMs - LEASE_MARGIN_MS) return entry;
      this.#forget(entry);
    }
    return undefined;
  }

  /** Removes a waiting delivery that this process will not send. */
  #forget({ delivery, destination }: QueueEntry): void {
    this.#entries.delete(delivery.id);
    this.#destinations.removeIfEmpty(destination);
    this.#breakers.giveBackProbe(delivery.destinationId, delivery.id);
  }
}
