/** Brings due deliveries from the database whenever there is room for them. */
import type { Database } from '@creditlane/postgres/database';
import { runQuery } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Room, Sender } from '../sending/sender.ts';
import { claimDue, endOldHolds, promotingNext } from '../store/deliveries.ts';
import type { Delivery } from './delivery.ts';

export interface ClaimerOptions {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly sender: Sender;
  readonly leaseMs: number;
}

/** The net beneath the wake-ups: how soon time alone, or another process, makes itself felt. */
const POLL_MS = 250;
const MAX_CLAIM = 1_000;
const MAX_HOLDS = 500;
/** Sorts before every id there is. */
const FIRST = '00000000-0000-0000-0000-000000000000';

export class Claimer {
  readonly #options: ClaimerOptions;
  readonly #wake = new WakeSignal();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** Destinations for which more may be due than there was room for. */
  readonly #backlogged = new Set<string>();
  /** The destination at which the last claim ran out of room for anyone; the next goes on after it. */
  #after = FIRST;

  constructor(options: ClaimerOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Whether more may be due for the destination: then what is new takes its turn in the database. */
  isBacklogged(destinationId: string): boolean {
    return this.#after !== FIRST || this.#backlogged.has(destinationId);
  }

  /** Something is due for these destinations that nobody holds. */
  expect(destinationIds: Iterable<string>): void {
    for (const id of destinationIds) this.#backlogged.add(id);
    this.#wake.signal();
  }

  /** A delivery to the destination has left; of interest only while there is a backlog. */
  offerRoom(destinationId: string): void {
    const wanted =
      this.#backlogged.has(destinationId) && this.#options.sender.hasRoom(destinationId);
    if (wanted || this.#after !== FIRST) this.#wake.signal();
  }

  /** Resolves once nothing more is claimed. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { log, sender } = this.#options;
    let polledMs = Number.NEGATIVE_INFINITY;
    while (!this.#stop.signal.aborted) {
      try {
        if (performance.now() - polledMs >= POLL_MS) {
          polledMs = performance.now();
          sender.poke();
          await this.#endHolds();
        }
        if (await this.#claim()) continue;
      } catch (err) {
        log.warn({ err }, 'due webhooks cannot be claimed');
      }
      await this.#wake.wait(POLL_MS, this.#stop.signal);
    }
  }

  /** Claims what there is room for; true when it is worth asking again at once. */
  async #claim(): Promise<boolean> {
    const { pool, sender, leaseMs } = this.#options;
    const room = sender.room();
    const limit = Math.min(room.total, MAX_CLAIM);
    if (limit === 0) return false;
    const leasedAtMs = performance.now();
    const after = this.#after;
    const claimed = await claimDue(pool, {
      after,
      room: room.byDestination,
      otherRoom: room.other,
      limit,
      leaseMs,
    });
    // Round and round over the destinations: a claim that was cut off goes on where it was.
    const cutOff = claimed.length === limit;
    this.#after = cutOff ? lastDestination(claimed) : FIRST;
    this.#note(claimed, room, cutOff);
    sender.take(claimed, leasedAtMs);
    return cutOff || after !== FIRST;
  }

  /** A destination that filled its room may have more; one that left room has no more. */
  #note(claimed: readonly Delivery[], room: Room, cutOff: boolean): void {
    const counts = new Map<string, number>();
    for (const { destinationId } of claimed) {
      counts.set(destinationId, (counts.get(destinationId) ?? 0) + 1);
    }
    const roomOf = (id: string) => room.byDestination.get(id) ?? room.other;
    for (const [id, count] of counts) if (count >= roomOf(id)) this.#backlogged.add(id);
    if (cutOff) return;
    for (const id of this.#backlogged) {
      if ((counts.get(id) ?? 0) < roomOf(id)) this.#backlogged.delete(id);
    }
  }

  async #endHolds(): Promise<void> {
    const { pool, sender, leaseMs } = this.#options;
    const leasedAtMs = performance.now();
    const promoted = await inTransaction(pool, async (tx) => {
      const ended = await endOldHolds(tx, MAX_HOLDS);
      return ended.length > 0 ? runQuery(tx, promotingNext(ended, leaseMs)) : [];
    });
    sender.take(promoted, leasedAtMs);
  }
}

function lastDestination(claimed: readonly Delivery[]): string {
  const destinationIds = claimed.map(({ destinationId }) => destinationId);
  return destinationIds.sort().at(-1) ?? FIRST;
}
