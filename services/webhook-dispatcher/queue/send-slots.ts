/**
 * The requests under way, and how many of them suspect destinations may have: those whose circuit breaker is open, and
 * those with a slow request. A request that has held its slot for SLOW_MS shares it with another one. So receivers that
 * begin to hang delay the others for that time at most, and not until the deadline of the requests; and a service of
 * the platform that a request waits for delays those that need no service no longer.
 */
import { type DestinationQueue, type QueueEntry, SLOW_MS } from './destination-queue.ts';

/** How many requests may share their slots, for each slot: each of them keeps a connection. */
const MAX_SHARED = 2;
/** The part of all slots that suspect destinations may have together. */
const SUSPECT_SHARE = 1 / 2;
/** The part of all slots that destinations not known to answer may have together. */
const UNPROVEN_SHARE = 3 / 4;

export class SendSlots {
  readonly #max: number;
  #taken = 0;
  /** Of these, those that share their slots. */
  #shared = 0;
  /** Of these, those to suspect destinations. */
  #suspect = 0;
  /** Of these, those to destinations that were known to answer when they were taken, without those that share their slots. */
  #proven = 0;

  /** `max` requests may be under way, and beside them twice as many that share their slots. */
  constructor(max: number) {
    this.#max = max;
  }

  get #inUse(): number {
    return this.#taken - Math.min(this.#shared, MAX_SHARED * this.#max);
  }

  /** Whether no request may begin. */
  get isFull(): boolean {
    return this.#inUse >= this.#max;
  }

  /** How many requests share their slots. */
  get shared(): number {
    return this.#shared;
  }

  /** How many requests to suspect destinations may begin. */
  get suspectsLeft(): number {
    return Math.max(0, Math.ceil(this.#max * SUSPECT_SHARE) - this.#suspect);
  }

  /** Whether a request to this destination may begin. */
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

  /** Has the requests of this destination that have held their slots for SLOW_MS share them. */
  shareLongHeld({ sending }: DestinationQueue, nowMs: number): void {
    for (const entry of sending) {
      if (nowMs - entry.takenAtMs < SLOW_MS) break;
      if (entry.sharesSlot) continue;
      entry.sharesSlot = true;
      this.#shared += 1;
      if (entry.isProven) this.#proven -= 1;
    }
  }

  setSuspect(destination: DestinationQueue, isSuspect: boolean): void {
    if (destination.isSuspect === isSuspect) return;
    destination.isSuspect = isSuspect;
    this.#suspect += isSuspect ? destination.sending.size : -destination.sending.size;
  }
}
