/**
 * The requests under way, and how many of them suspect destinations may have: those whose circuit breaker is open, and
 * those with a slow request, which has been under way for SLOW_MS. A slow request gives its slot to another one, so
 * that receivers that begin to hang delay the others for that time at most, and not until the deadline of the requests.
 */
import type { DestinationQueue, QueueEntry } from './destination-queue.ts';

/** Receivers that work answer within some 100 ms. */
const SLOW_MS = 1_000;
/** How many slow requests may give up their slots, for each slot: each of them keeps a connection. */
const SLOW_SHARE = 2;
/** The part of all slots that suspect destinations may have together. */
const SUSPECT_SHARE = 1 / 2;
/** The part of all slots that destinations not known to answer may have together. */
const UNTRIED_SHARE = 3 / 4;

export class SendSlots {
  readonly #max: number;
  #sending = 0;
  /** Of these, the slow ones. */
  #slow = 0;
  /** Of these, those to suspect destinations. */
  #suspect = 0;
  /** Of these, those to destinations that were known to answer when they began, without the slow ones. */
  #proven = 0;

  /** `max` requests may be under way, and twice as many slow ones beside them. */
  constructor(max: number) {
    this.#max = max;
  }

  get #inUse(): number {
    return this.#sending - Math.min(this.#slow, SLOW_SHARE * this.#max);
  }

  /** Whether no request may begin. */
  get isFull(): boolean {
    return this.#inUse >= this.#max;
  }

  /** How many requests under way are slow. */
  get slow(): number {
    return this.#slow;
  }

  /** How many requests to suspect destinations may begin. */
  get suspectsLeft(): number {
    return Math.max(0, Math.ceil(this.#max * SUSPECT_SHARE) - this.#suspect);
  }

  /** Whether a request to this destination may begin. */
  mayStart({ isSuspect, limit }: DestinationQueue): boolean {
    if (this.isFull) return false;
    if (isSuspect) return this.suspectsLeft > 0;
    return limit.isProven || this.#inUse - this.#proven < this.#max * UNTRIED_SHARE;
  }

  start(entry: QueueEntry, nowMs: number): void {
    const { destination } = entry;
    entry.sentAtMs = nowMs;
    entry.isProven = destination.limit.isProven && !destination.isSuspect;
    destination.sending.add(entry);
    this.#sending += 1;
    if (destination.isSuspect) this.#suspect += 1;
    if (entry.isProven) this.#proven += 1;
  }

  /** Returns whether the request was slow. */
  finish(entry: QueueEntry, nowMs: number): boolean {
    const { destination } = entry;
    destination.sending.delete(entry);
    this.#sending -= 1;
    if (destination.isSuspect) this.#suspect -= 1;
    if (entry.isSlow) this.#slow -= 1;
    else if (entry.isProven) this.#proven -= 1;
    return nowMs - entry.sentAtMs >= SLOW_MS;
  }

  /** Counts the requests that have become slow as such; returns whether the destination has a slow one. */
  updateSlow({ sending }: DestinationQueue, nowMs: number): boolean {
    for (const entry of sending) {
      if (nowMs - entry.sentAtMs < SLOW_MS) break;
      if (entry.isSlow) continue;
      entry.isSlow = true;
      this.#slow += 1;
      if (entry.isProven) this.#proven -= 1;
    }
    const [oldest] = sending;
    return oldest?.isSlow ?? false;
  }

  setSuspect(destination: DestinationQueue, isSuspect: boolean): void {
    if (destination.isSuspect === isSuspect) return;
    destination.isSuspect = isSuspect;
    this.#suspect += isSuspect ? destination.sending.size : -destination.sending.size;
  }
}
