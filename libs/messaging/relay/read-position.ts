/**
 * After which id the rounds of the relay read.
 *
 * The mark of publication moves a row out of the queue, but its index entry stays while any transaction may still see the
 * row. A dump that runs for ten minutes keeps the entries of all events that are published meanwhile, and whoever looks for
 * the oldest event visits each of them. So that look is taken beside the rounds, once in a second, or less often while it
 * takes long, and the rounds read after the place where the look before the last one has found the oldest event.
 *
 * A position decides when an event is read, never whether, and never the order of a key: an event that is committed
 * with an id before the position is read after the next look, and until then `selectUnpublished` leaves the later
 * events of its key where they are.
 */
import type { OutboxRow } from './outgoing-events.ts';
import { includesLease, type Lease } from './shard-leases.ts';

/** An event is not passed if its transaction commits within this time after it has drawn the id. */
const LOOK_EVERY_MS = 1_000;
/** How much of the time may go into the looks. */
const LOOK_SHARE = 0.02;

export interface ReadPositionOptions {
  /** Resolves to the id of the oldest unpublished event of these shards; undefined without any. */
  findOldest(shards: readonly number[]): Promise<number | undefined>;
  /** Called when an event was found before the position, so that it is read now. */
  wake(): void;
  /** How late an event is read, at most, that is committed with an id before the position. */
  maxPauseMs: number;
}

export class ReadPosition {
  readonly #options: ReadPositionOptions;
  /** Reads begin after this id; 0 is for the whole queue. */
  #afterId = 0;
  /** What `#afterId` becomes with the next look, unless that finds an older event. */
  #nextAfterId = 0;
  #lastReadId = 0;
  /** The position is theirs: a shard that is leased later may have events before it. */
  #leases: readonly Lease[] = [];
  #looking: Promise<void> | undefined;
  #lookAtMs = 0;
  /** When the position ends, unless a look succeeds before. */
  #endsAtMs = 0;

  constructor(options: ReadPositionOptions) {
    this.#options = options;
  }

  /** Runs `select` with the id after which it is to read. */
  async read(
    leases: readonly Lease[],
    select: (afterId: number) => Promise<OutboxRow[]>,
  ): Promise<OutboxRow[]> {
    const nowMs = performance.now();
    const isKnown = leases.every((lease) => includesLease(this.#leases, lease));
    if (!isKnown || nowMs >= this.#endsAtMs) {
      this.#leases = leases;
      this.#afterId = 0;
      this.#nextAfterId = 0;
      this.#planLook(nowMs);
    } else if (nowMs >= this.#lookAtMs) {
      this.#looking ??= this.#look();
    }
    const rows = await select(this.#afterId);
    this.#lastReadId = Math.max(this.#lastReadId, rows.at(-1)?.id ?? 0);
    return rows;
  }

  /** Makes the next reads those of the whole queue. */
  restart(): void {
    this.#leases = [];
  }

  /** Resolves when no look is under way. */
  async settled(): Promise<void> {
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { findOldest, wake } = this.#options;
    const [leases, lastReadId, startedMs] = [this.#leases, this.#lastReadId, performance.now()];
    try {
      const oldest = await findOldest(leases.map(({ shard }) => shard));
      if (leases !== this.#leases) return;
      const beforeOldest = oldest === undefined ? lastReadId : oldest - 1;
      const isPassed = beforeOldest < this.#afterId;
      this.#afterId = Math.min(this.#nextAfterId, beforeOldest);
      this.#nextAfterId = beforeOldest;
      this.#planLook(startedMs);
      if (isPassed) wake();
    } catch {
      // When looks fail, the position ends; the reads report why the database cannot be read.
    } finally {
      this.#looking = undefined;
    }
  }

  #planLook(startedMs: number): void {
    const nowMs = performance.now();
    const pauseMs = Math.max(LOOK_EVERY_MS, (nowMs - startedMs) / LOOK_SHARE);
    this.#lookAtMs = startedMs + Math.min(pauseMs, this.#options.maxPauseMs);
    this.#endsAtMs = nowMs + this.#options.maxPauseMs;
  }
}
