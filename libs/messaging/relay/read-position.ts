/**
 * After which id the rounds of the relay read.
 *
 * The mark of publication moves a row out of the queue, but its index entry stays while any transaction may still see the
 * row. A dump that runs for ten minutes keeps the entries of all events that are published meanwhile, and a read of the
 * whole queue visits each of them. So the whole queue is read once in a second, or less often while that takes long, and
 * the reads between begin where the whole read before the last one has found its oldest event.
 *
 * A position decides when an event is read, never whether, and never the order of a key: an event that is committed
 * with an id before the position is read with the next whole queue, and until then `selectUnpublished` leaves the later
 * events of its key where they are.
 */
import type { OutboxRow } from './outgoing-events.ts';
import { includesLease, type Lease } from './shard-leases.ts';

/** An event is not passed if its transaction commits within this time after it has drawn the id. */
const WHOLE_EVERY_MS = 1_000;
/** How much of the time may go into reads of the whole queue. */
const WHOLE_SHARE = 0.02;

export class ReadPosition {
  readonly #maxPauseMs: number;
  /** Reads begin after this id. */
  #afterId = 0;
  /** What `#afterId` becomes with the next read of the whole queue. */
  #nextAfterId = 0;
  /** The leases of the last whole read: a shard that is leased since may have events before the position. */
  #leases: readonly Lease[] = [];
  #wholeAtMs = 0;

  /** @param maxPauseMs how late an event is read, at most, that is committed with an id before the position */
  constructor(maxPauseMs: number) {
    this.#maxPauseMs = maxPauseMs;
  }

  /** Runs `select` with the id after which it is to read; 0 is for the whole queue. */
  async read(
    leases: readonly Lease[],
    select: (afterId: number) => Promise<OutboxRow[]>,
  ): Promise<OutboxRow[]> {
    const startedMs = performance.now();
    const isKnown = leases.every((lease) => includesLease(this.#leases, lease));
    if (isKnown && startedMs < this.#wholeAtMs) return select(this.#afterId);

    const rows = await select(0);
    const tookMs = performance.now() - startedMs;
    const pauseMs = Math.max(WHOLE_EVERY_MS, tookMs / WHOLE_SHARE);
    this.#wholeAtMs = startedMs + Math.min(pauseMs, this.#maxPauseMs);
    this.#leases = leases;
    this.#moveTo(rows[0]);
    return rows;
  }

  /** Makes the next read one of the whole queue. */
  restart(): void {
    this.#wholeAtMs = 0;
  }

  /** @param oldest the oldest event of the whole queue; the position is before it */
  #moveTo(oldest: OutboxRow | undefined): void {
    const beforeOldest = oldest ? oldest.id - 1 : this.#nextAfterId;
    this.#afterId = Math.min(this.#nextAfterId, beforeOldest);
    this.#nextAfterId = beforeOldest;
  }
}
