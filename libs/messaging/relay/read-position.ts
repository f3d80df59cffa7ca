/**
 * After which id the rounds of the relay read.
 *
 * The mark of publication moves a row out of the queue, but its index entry stays while any transaction may still see the
 * row. A dump that runs for ten minutes keeps the entries of all events that are published meanwhile, and whoever searches
 * the queue for its oldest event visits each of them. So the rounds read after a position. Beside them, once in a second
 * or less often while that takes long, a scan finds the oldest unpublished event; the position is before what the last
 * two scans have found.
 *
 * A position decides when an event is read, never whether, and never the order of a key: an event that is committed
 * with an id before the position is found by the next scan, and until then `selectUnpublished` leaves the later
 * events of its key where they are.
 */
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { OutboxRow } from './outgoing-events.ts';
import { includesLease, type Lease } from './shard-leases.ts';

/** Between two scans. An event whose transaction commits within this time after drawing its id is never before the position. */
const SCAN_EVERY_MS = 1_000;
/** How much of the time may go into scans, unless they are `maxPauseMs` apart. */
const SCAN_SHARE = 0.02;

export interface ReadPositionOptions {
  /** Resolves to the id of the oldest unpublished event that a round under these leases would publish; undefined without any. */
  findOldest(leases: readonly Lease[]): Promise<number | undefined>;
  /** Called when a scan has found an event before the position, so that it is read now. */
  wake(): void;
  /** Between two scans at most, while there are reads. */
  maxPauseMs: number;
  log: Log;
}

export class ReadPosition {
  readonly #options: ReadPositionOptions;
  /** Reads begin after this id; 0 is for the whole queue. */
  #afterId = 0;
  /** Before the oldest event that the last scan has found. */
  #beforeOldest = 0;
  #lastReadId = 0;
  /** Those of the position. Another lease resets it, because the shard may have earlier events. */
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
    if (!leases.every((lease) => includesLease(this.#leases, lease))) {
      this.#leases = leases;
      this.#afterId = 0;
      this.#beforeOldest = 0;
      this.#scanAtMs = nowMs + SCAN_EVERY_MS;
    } else if (nowMs >= this.#scanAtMs) {
      this.#scanning ??= this.#scan(leases);
    }
    const rows = await select(this.#afterId);
    this.#lastReadId = Math.max(this.#lastReadId, rows.at(-1)?.id ?? 0);
    return rows;
  }

  /** Makes the next reads, until two scans have ended, those of the whole queue. */
  restart(): void {
    this.#leases = [];
  }

  /** Resolves when no scan is under way. */
  async settled(): Promise<void> {
    await this.#scanning;
  }

  /** Never rejects: while scans fail, the position stays, and late events wait. */
  async #scan(leases: readonly Lease[]): Promise<void> {
    const { findOldest, wake, maxPauseMs, log } = this.#options;
    const [known, lastReadId, startedMs] = [this.#leases, this.#lastReadId, performance.now()];
    try {
      const oldest = await findOldest(leases);
      if (known === this.#leases) {
        const beforeOldest = oldest === undefined ? lastReadId : oldest - 1;
        const isLate = beforeOldest < this.#afterId;
        this.#afterId = Math.min(this.#beforeOldest, beforeOldest);
        this.#beforeOldest = beforeOldest;
        if (isLate) wake();
      }
    } catch (err) {
      log.warn({ err }, 'the outbox was not searched for late events; the relay tries again');
    }
    const pauseMs = Math.max(SCAN_EVERY_MS, (performance.now() - startedMs) / SCAN_SHARE);
    this.#scanAtMs = startedMs + Math.min(pauseMs, maxPauseMs);
    this.#scanning = undefined;
  }
}
