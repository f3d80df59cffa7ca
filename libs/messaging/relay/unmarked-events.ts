/**
 * The events that this relay has published and not marked yet. Marked together a little later, they cost one statement
 * instead of one for each round. Until then only this process knows that they are published: after a crash they are
 * published again, as after a crash between a publish and its mark.
 */
import { includesLease, type Lease } from './shard-leases.ts';

/** How long a mark waits for further events, and how many waiting ones make it due. */
const MARK_WITHIN_MS = 200;
const MAX_UNMARKED = 100;

export class UnmarkedEvents {
  /** When each event was published, by performance.now(), by the id of its outbox row. */
  readonly #publishedMs = new Map<number, number>();
  /** The fences under which the events of each shard were published. */
  readonly #fences = new Map<number, number>();
  #dueMs = Number.POSITIVE_INFINITY;

  /** The ids of the rows, which no round may read again. */
  get ids(): number[] {
    return [...this.#publishedMs.keys()];
  }

  get leases(): Lease[] {
    return [...this.#fences].map(([shard, fence]) => ({ shard, fence }));
  }

  /** Milliseconds until the events are to be marked; infinite when there are none. */
  dueInMs(): number {
    return Math.max(0, this.#dueMs - performance.now());
  }

  /** Whether the events are to be marked before a round under these leases: one mark compares one fence of a shard. */
  isDue(leases: readonly Lease[]): boolean {
    if (this.#publishedMs.size === 0) return false;
    const isHeld = (lease: Lease) => includesLease(leases, lease);
    const isFull = this.#publishedMs.size >= MAX_UNMARKED;
    return isFull || this.dueInMs() === 0 || !this.leases.every(isHeld);
  }

  /** Adds events that were published under these leases. */
  add(ids: readonly number[], leases: readonly Lease[]): void {
    if (ids.length === 0) return;
    const nowMs = performance.now();
    if (this.#publishedMs.size === 0) this.#dueMs = nowMs + MARK_WITHIN_MS;
    for (const id of ids) this.#publishedMs.set(id, nowMs);
    for (const { shard, fence } of leases) this.#fences.set(shard, fence);
  }

  /** Makes the events due. */
  makeDue(): void {
    if (this.#publishedMs.size > 0) this.#dueMs = 0;
  }

  /** Forgets the events, which are marked now or are to be read again; returns when each was published. */
  clear(): ReadonlyMap<number, number> {
    const published = new Map(this.#publishedMs);
    this.#publishedMs.clear();
    this.#fences.clear();
    this.#dueMs = Number.POSITIVE_INFINITY;
    return published;
  }
}
