/**
 * The slots of deliveries that are being sent, and how many of them suspect destinations may have: those whose circuit
 * breaker is open, and those with a delivery that has held its slot for SLOW_MS, mostly by a request that hangs. Such a
 * delivery shares its slot with another one. So receivers that begin to hang, or a service that the rendering of a body
 * waits for, delay the other destinations for that time at most, and not until the deadline.
 */
import type { DestinationQueue, QueueEntry } from './destination-queue.ts';

/** A request that takes so long is slow: receivers that work answer within some 100 ms. */
export const SLOW_MS = 1_000;
/** How many deliveries may share their slots, for each slot: each of them keeps a connection. */
const MAX_SHARED = 2;
/** The part of all slots that suspect destinations may have together. */
const SUSPECT_SHARE = 1 / 2;
/** The part of all slots that destinations not known to answer may have together. */
const UNPROVEN_SHARE = 3 / 4;

/** Whether a request that took `durationMs` was slow. */
export function isSlow(durationMs: number): boolean {
  return durationMs >= SLOW_MS;
}

export class SendSlots {
  readonly #max: number;
  #taken = 0;
  /** Of the taken ones, those that are shared. */
  #shared = 0;
  /** Of the taken ones, those of suspect destinations. */
  #suspect = 0;
  /** Of the taken ones that are not shared, those of destinations that were known to answer. */
  #proven = 0;

  /** `max` deliveries may have a slot each, and beside them twice as many may share theirs. */
  constructor(max: number) {
    this.#max = max;
  }

  get #inUse(): number {
    return this.#taken - Math.min(this.#shared, MAX_SHARED * this.#max);
  }

  /** Whether no delivery may be taken. */
  get isFull(): boolean {
    return this.#inUse >= this.#max;
  }

  /** How many deliveries share their slots. */
  get shared(): number {
    return this.#shared;
  }

  /** How many deliveries to suspect destinations may be taken. */
  get suspectsLeft(): number {
    return Math.max(0, Math.ceil(this.#max * SUSPECT_SHARE) - this.#suspect);
  }

  /** Whether a delivery to this destination may be taken. */
  mayStart({ isSuspect, limit }: DestinationQueue): boolean {
    if (this.isFull) return false;
    if (isSuspect) return this.suspectsLeft > 0;
    return limit.isProven || this.#inUse - this.#proven < this.#max * UNPROVEN_SHARE;
  }

  take(entry: QueueEntry, nowMs: number): void {
    const { destination } = entry;
    entry.takenAtMs = nowMs;
    entry.isProven = destination.limit.isProven && !destination.isSuspect;
    destination.sending.add(entry);
    this.#taken += 1;
    if (destination.isSuspect) this.#suspect += 1;
    if (entry.isProven) this.#proven += 1;
  }

  free(entry: QueueEntry): void {
    const { destination } = entry;
    destination.sending.delete(entry);
    this.#taken -= 1;
    if (destination.isSuspect) this.#suspect -= 1;
    if (entry.sharesSlot) this.#shared -= 1;
    else if (entry.isProven) this.#proven -= 1;
  }

  /** Has the deliveries of this destination that have held their slots for SLOW_MS share them; returns whether one does. */
  shareLongHeld({ sending }: DestinationQueue, nowMs: number): boolean {
    for (const entry of sending) {
      if (nowMs - entry.takenAtMs < SLOW_MS) break;
      if (entry.sharesSlot) continue;
      entry.sharesSlot = true;
      this.#shared += 1;
      if (entry.isProven) this.#proven -= 1;
    }
    const [oldest] = sending;
    return oldest?.sharesSlot ?? false;
  }

  setSuspect(destination: DestinationQueue, isSuspect: boolean): void {
    if (destination.isSuspect === isSuspect) return;
    destination.isSuspect = isSuspect;
    this.#suspect += isSuspect ? destination.sending.size : -destination.sending.size;
  }
}
