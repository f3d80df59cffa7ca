/**
 * After which id the rounds of the relay read.
 *
 * The mark of publication moves a row out of the queue, but its index entry stays while any transaction may still see the
 * row. A dump that runs for ten minutes keeps the entries of all events that are published meanwhile, and whoever searches
 * the queue for its oldest event visits each of them. So the rounds read after a position: the id before the oldest event
 * that two reads, a second apart, have found.
 *
 * A position decides when an event is read, never whether, and never the order of a key. An event that is committed
 * later, with an id before the position, is found by a scan of the whole queue beside the rounds, once in a second or less
 * often while that takes long. Until then `selectUnpublished` leaves the later events of its key where they are.
 */
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { OutboxRow } from './outgoing-events.ts';
import { includesLease, type Lease } from './shard-leases.ts';

/** An event whose transaction commits within this time after drawing its id is never before the position. */
const MOVE_EVERY_MS = 1_000;
const SCAN_EVERY_MS = 1_000;
/** How much of the time may go into scans, unless they are `maxPauseMs` apart. */
const SCAN_SHARE = 0.02;

export interface ReadPositionOptions {
  /** Resolves to the id of the oldest event that a read of the whole queue under these leases would find, if any. */
  findOldest(leases: readonly Lease[]): Promise<number | undefined>;
  /** Called when a scan has found an event before the position, so that it is read now. */
  wake(): void;
  /** Between two scans at most. A read that comes so long after the last one reads the whole queue itself. */
  maxPauseMs: number;
  log: Log;
}

export class ReadPosition {
  readonly #options: ReadPositionOptions;
  /** Reads begin after this id; 0 is for the whole queue. */
  #afterId = 0;
  /** Before the oldest event that was read when the position was last moved. */
  #beforeOldest = 0;
  #moveAtMs = 0;
  #lastReadId = 0;
  #lastReadMs = Number.NEGATIVE_INFINITY;
  /** The leases under which the position was found. A further one resets it, because its shard may have earlier events. */
  #leases: readonly Lease[] = [];
  #scanning: Promise<void> | undefined;
  #scanAtMs = 0;

  constructor(options: ReadPositionOptions) {
    this.#options = options;
  }

  /** Runs `select` with the id after which it is to read. */
  async read(
    leases: readonly Lease[],
    select: (afterId: number) => Promise<OutboxRow[]>,
  ): Promise<OutboxRow[]> {
    const nowMs = performance.now();
    const isIdle = nowMs - this.#lastReadMs >= this.#options.maxPauseMs;
    if (!leases.every((lease) => includesLease(this.#leases, lease))) {
      this.#leases = leases;
      this.#afterId = 0;
      this.#beforeOldest = 0;
      this.#moveAtMs = nowMs + MOVE_EVERY_MS;
      this.#scanAtMs = nowMs + SCAN_EVERY_MS;
    } else if (nowMs >= this.#scanAtMs && !isIdle) {
      this.#scanning ??= this.#scan(leases);
    }
    const rows = await select(isIdle ? 0 : this.#afterId);
    this.#lastReadMs = performance.now();
    this.#lastReadId = Math.max(this.#lastReadId, rows.at(-1)?.id ?? 0);
    if (nowMs >= this.#moveAtMs) {
      const beforeOldest = rows[0] === undefined ? this.#lastReadId : rows[0].id - 1;
      this.#afterId = Math.min(this.#beforeOldest, beforeOldest);
      this.#beforeOldest = beforeOldest;
      // From the end of the read: the ids that it has found were drawn before.
      this.#moveAtMs = performance.now() + MOVE_EVERY_MS;
    }
    return rows;
  }

  /** Has the next reads read the whole queue, until the position has moved twice. */
  restart(): void {
    this.#leases = [];
  }

  /** Resolves when no scan is under way. */
  async scanEnded(): Promise<void> {
    await this.#scanning;
  }

  /** Never rejects: while scans fail, the position stays, and late events wait. */
  async #scan(leases: readonly Lease[]): Promise<void> {
    const { findOldest, wake, maxPauseMs, log } = this.#options;
    const [known, startedMs] = [this.#leases, performance.now()];
    try {
      const oldest = await findOldest(leases);
      if (oldest !== undefined && oldest <= this.#afterId && known === this.#leases) {
        this.#afterId = oldest - 1;
        this.#beforeOldest = oldest - 1;
        wake();
      }
    } catch (err) {
      log.warn({ err }, 'the outbox was not searched for late events; the relay tries again');
    }
    const pauseMs = Math.max(SCAN_EVERY_MS, (performance.now() - startedMs) / SCAN_SHARE);
    this.#scanAtMs = startedMs + Math.min(pauseMs, maxPauseMs);
    this.#scanning = undefined;
  }
}
