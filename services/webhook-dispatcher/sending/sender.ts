/** Sends what this process has leased: as much at once as each destination and the whole may bear. */
import type { Database } from '@creditlane/postgres/database';
import { runQuery } from '@creditlane/postgres/statement';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { LRUCache } from 'lru-cache';
import { Allowance, type BreakerState } from '../queue/adaptive-limit.ts';
import type { Delivery } from '../queue/delivery.ts';
import { DestinationQueue, type Held, roomOf } from '../queue/destination-queue.ts';
import { releasingLeases, renewLeases } from '../store/deliveries.ts';
import type { Attempt } from './attempt.ts';
import type { Recorder } from './recorder.ts';

export interface SenderOptions {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly attempt: Attempt;
  readonly recorder: Pick<Recorder, 'record'>;
  readonly leaseMs: number;
  /** Requests under way at once, to everyone together. */
  readonly maxInFlight: number;
  readonly maxInFlightPerDestination: number;
  /** Called when a delivery has left. */
  onRoom(destinationId: string): void;
}

/** How much more may be taken. */
export interface Room {
  readonly total: number;
  readonly byDestination: Map<string, number>;
  /** For each destination that is not named. */
  readonly other: number;
}

/** How many are held for each request that may be under way: the bound of the memory used. */
const DEPTH = 4;
/** What is held is renewed so often within a lease that the database may be away for three of five. */
const RENEWALS_PER_LEASE = 5;
/** A delivery whose lease is about to end is not begun any more. */
const LEASE_MARGIN_MS = 500;
const MAX_ALLOWANCES = 10_000;
const MAX_ARRIVED = 10_000;

export class Sender {
  readonly #options: SenderOptions;
  readonly #queues = new Map<string, DestinationQueue>();
  /** Destinations outlive their queues here, so that a broken one stays known as broken. */
  readonly #allowances = new LRUCache<string, Allowance>({ max: MAX_ALLOWANCES });
  readonly #held = new Map<string, Held>();
  /** What arrived lately: a claim that the database made before it knew may be answered after. */
  readonly #arrived: LRUCache<string, true>;
  readonly #renewal: NodeJS.Timeout;
  #sending = 0;
  #closing = false;
  #renewing: Promise<void> = Promise.resolve();

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#arrived = new LRUCache({ max: MAX_ARRIVED, ttl: options.leaseMs });
    this.#renewal = setInterval(() => {
      this.#renewing = this.#renew();
    }, options.leaseMs / RENEWALS_PER_LEASE);
  }

  /** Deliveries in hand: waiting, under way, or being recorded. */
  get inHand(): number {
    return this.#held.size;
  }

  /**
   * Takes deliveries that were leased at `leasedAtMs` (performance.now()). One that is in hand already,
   * whose lease ended before it could be prolonged, is not begun again: it goes on under the new lease.
   * Nor is one that has arrived.
   */
  take(deliveries: readonly Delivery[], leasedAtMs: number): void {
    if (this.#closing) {
      void this.#giveBack(deliveries);
      return;
    }
    const touched = new Set<DestinationQueue>();
    for (const delivery of deliveries) {
      if (this.#arrived.has(delivery.id)) continue;
      const leasedUntilMs = leasedAtMs + this.#options.leaseMs;
      const inHand = this.#held.get(delivery.id);
      if (inHand !== undefined) {
        inHand.delivery = delivery;
        inHand.leasedUntilMs = leasedUntilMs;
        continue;
      }
      const held = { delivery, leasedUntilMs };
      this.#held.set(delivery.id, held);
      const queue = this.#queueOf(delivery.destinationId);
      queue.waiting.push(held);
      touched.add(queue);
    }
    this.#pump(touched);
  }

  /** Whether more for this destination may be taken. */
  hasRoom(destinationId: string): boolean {
    const queue = this.#queues.get(destinationId);
    return queue === undefined || queue.room(performance.now()) > 0;
  }

  /** How much more may be taken. */
  room(): Room {
    const nowMs = performance.now();
    const total = this.#closing ? 0 : this.#options.maxInFlight * DEPTH - this.#held.size;
    const byDestination = new Map<string, number>();
    for (const [id, allowance] of this.#allowances.entries()) {
      byDestination.set(id, roomOf(allowance, this.#queues.get(id)?.held ?? 0, nowMs));
    }
    const fresh = new Allowance(this.#options.maxInFlightPerDestination);
    return { total: Math.max(0, total), byDestination, other: roomOf(fresh, 0, nowMs) };
  }

  /** Tries again where time alone may have changed something. */
  poke(): void {
    this.#pump(this.#queues.values());
  }

  /** Lets go of what waits for a destination that gets nothing more. */
  drop(destinationIds: readonly string[]): void {
    for (const id of destinationIds) {
      const waiting = this.#queues.get(id)?.waiting.splice(0) ?? [];
      for (const { delivery } of waiting) this.#held.delete(delivery.id);
    }
  }

  breakers(): Record<BreakerState, number> {
    const nowMs = performance.now();
    const counts = { closed: 0, open: 0, half_open: 0 };
    for (const allowance of this.#allowances.values()) counts[allowance.state(nowMs)] += 1;
    return counts;
  }

  /** Begins nothing more, gives back what waits, and stops holding what is under way. */
  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#renewal);
    await this.#renewing;
    const waiting = [...this.#queues.values()].flatMap((queue) => queue.waiting.splice(0));
    const untried = waiting.map(({ delivery }) => delivery);
    for (const { id } of untried) this.#held.delete(id);
    await this.#giveBack(untried);
  }

  /** Lets others have them at once; failing that, when their leases end. */
  async #giveBack(deliveries: readonly Delivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const { pool, log } = this.#options;
    await runQuery(pool, releasingLeases(deliveries, 0)).catch((err: unknown) => {
      log.warn({ err, deliveries: deliveries.length }, 'leases could not be given back');
    });
  }

  #queueOf(destinationId: string): DestinationQueue {
    const known = this.#queues.get(destinationId);
    if (known !== undefined) return known;
    let allowance = this.#allowances.get(destinationId);
    if (allowance === undefined) {
      allowance = new Allowance(this.#options.maxInFlightPerDestination);
      this.#allowances.set(destinationId, allowance);
    }
    const queue = new DestinationQueue(allowance);
    this.#queues.set(destinationId, queue);
    return queue;
  }

  /** Begins what may begin, one of each destination in turn, so that none waits for another's pile. */
  #pump(queues: Iterable<DestinationQueue>): void {
    const nowMs = performance.now();
    let ready = [...queues];
    while (ready.length > 0 && !this.#closing) {
      ready = ready.filter((queue) => queue.isReady(nowMs));
      for (const queue of ready) {
        if (this.#sending >= this.#options.maxInFlight) return;
        const held = queue.waiting.shift();
        if (held === undefined) continue;
        // Another process may have it by now; it is not ours to send.
        if (nowMs > held.leasedUntilMs - LEASE_MARGIN_MS) this.#held.delete(held.delivery.id);
        else void this.#send(queue, held);
      }
    }
  }

  async #send(queue: DestinationQueue, held: Held): Promise<void> {
    const { attempt, recorder, onRoom } = this.#options;
    const { id, destinationId } = held.delivery;
    queue.sending += 1;
    this.#sending += 1;
    const result = await attempt(held.delivery);
    if (result?.state === 'delivered') queue.allowance.succeeded();
    else if (result !== undefined) queue.allowance.failed(performance.now());
    const wasFull = this.#sending >= this.#options.maxInFlight;
    queue.sending -= 1;
    this.#sending -= 1;
    queue.recording += 1;
    this.#pump(wasFull ? this.#queues.values() : [queue]);

    // Under the lease of now: the one it was begun under may have ended meanwhile.
    const { delivery } = held;
    await recorder.record(
      result === undefined ? { untried: delivery } : { result: { ...result, delivery } },
    );
    if (result?.state === 'delivered') this.#arrived.set(id, true);
    queue.recording -= 1;
    this.#held.delete(id);
    if (queue.held === 0) this.#queues.delete(destinationId);
    this.#pump([queue]);
    onRoom(destinationId);
  }

  /** Keeps what is held for long. What is not ours any more, and has not begun, is let go of. */
  async #renew(): Promise<void> {
    const { pool, log, leaseMs } = this.#options;
    const nowMs = performance.now();
    const youngMs = leaseMs / RENEWALS_PER_LEASE;
    const ageing = [...this.#held.values()].filter(
      ({ leasedUntilMs }) => leasedUntilMs - nowMs < leaseMs - youngMs,
    );
    if (ageing.length === 0) return;
    const asked = ageing.map(({ delivery }) => delivery);
    try {
      const renewed = await renewLeases(pool, asked, leaseMs);
      for (const [n, held] of ageing.entries()) {
        // One that was taken anew meanwhile has a lease that this answer knows nothing of.
        if (held.delivery !== asked[n]) continue;
        held.leasedUntilMs = renewed.has(held.delivery.id) ? nowMs + leaseMs : 0;
      }
    } catch (err) {
      // They end by themselves; nothing is begun after that.
      log.warn({ err, deliveries: ageing.length }, 'leases could not be renewed');
    }
  }
}
