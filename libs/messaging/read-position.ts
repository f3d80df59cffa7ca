/**
 * After which id the rounds of the relay read.
 *
 * The mark of publication moves a row out of the queue, but its index entry stays while any transaction may still see the
 * row. A dump that runs for ten minutes keeps the entries of all events that are published meanwhile, and a read of the
 * whole queue visits each of them. So the whole queue is read every few seconds, and the reads between begin where a read
 * a second or two ago has found its oldest event.
 *
 * A position decides when an event is read, never whether, and never the order of a key: an event that is committed
 * with an id before the position is read with the next whole queue, and until then `selectUnpublished` leaves the later
 * events of its key where they are.
 */
import type { OutboxRow } from './outgoing-events.ts';
import { includesLease, type Lease } from './shard-leases.ts';

/** Events are not passed whose transaction commits within this time after it has drawn their ids. */
const MOVE_EVERY_MS = 1_000;

export class ReadPosition {
  readonly #wholeEveryMs: number;
  /** Reads begin after this id. */
  #afterId = 0;
  /** What `#afterId` becomes at the next move. */
  #nextAfterId = 0;
  /** Those of the last whole read; further ones have older events. */
  #leases: readonly Lease[] = [];
  #wholeAtMs = 0;
  #moveAtMs = 0;

  /** @param wholeEveryMs how late an event is read, at most, that is committed with an id before the position */
  constructor(wholeEveryMs: number) {
    this.#wholeEveryMs = wholeEveryMs;
  }

  /** Runs `select` with the id after which it is to read; 0 is for the whole queue. */
  async read(
    leases: readonly Lease[],
    select: (afterId: number) => Promise<OutboxRow[]>,
  ): Promise<OutboxRow[]> {
    const startedMs = performance.now();
    const isWhole =
      startedMs >= this.#wholeAtMs || !leases.every((lease) => includesLease(this.#leases, lease));
    const rows = await select(isWhole ? 0 : this.#afterId);
    if (isWhole) {
      this.#leases = leases;
      this.#wholeAtMs = startedMs + this.#wholeEveryMs;
    }
    if (isWhole || startedMs >= this.#moveAtMs) {
      this.#moveAtMs = startedMs + MOVE_EVERY_MS;
      this.#moveTo(rows[0]);
    }
    return rows;
  }

  /** Makes the next read one of the whole queue. */
  restart(): void {
    this.#wholeAtMs = 0;
  }

  /** @param oldest the oldest unpublished event; the position is never behind it */
  #moveTo(oldest: OutboxRow | undefined): void {
    if (oldest) {
      this.#afterId = Math.min(this.#nextAfterId, oldest.id - 1);
      this.#nextAfterId = oldest.id - 1;
    } else {
      this.#afterId = this.#nextAfterId;
    }
  }
}
