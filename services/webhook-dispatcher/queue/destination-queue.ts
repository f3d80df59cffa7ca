/** The deliveries to one destination that this process holds. */
import type { Allowance } from './adaptive-limit.ts';
import type { Delivery } from './delivery.ts';

/** A delivery in this process's hands, and until when that is so. */
export interface Held {
  delivery: Delivery;
  leasedUntilMs: number;
}

/** How many are held ready for each that may be under way, so that no request waits for a claim. */
const DEPTH = 4;

export class DestinationQueue {
  readonly allowance: Allowance;
  readonly waiting: Held[] = [];
  /** Requests under way. */
  sending = 0;
  /** Results being written. */
  recording = 0;

  constructor(allowance: Allowance) {
    this.allowance = allowance;
  }

  get held(): number {
    return this.waiting.length + this.sending + this.recording;
  }

  /**
   * Whether the next one may go out now. While results are written others go out, but only as many:
   * what has no result in the database is what a crash makes us send again.
   */
  isReady(nowMs: number): boolean {
    const limit = this.allowance.limit(nowMs);
    return (
      this.waiting.length > 0 && this.sending < limit && this.sending + this.recording < 2 * limit
    );
  }

  /** How many more may be taken in; none until it is half empty, so that they come by the dozen. */
  room(nowMs: number): number {
    return roomOf(this.allowance, this.held, nowMs);
  }
}

/** As `DestinationQueue.room`, for a destination of which `held` are held. */
export function roomOf(allowance: Allowance, held: number, nowMs: number): number {
  const capacity = allowance.limit(nowMs) * DEPTH;
  return held * 2 <= capacity ? capacity - held : 0;
}
