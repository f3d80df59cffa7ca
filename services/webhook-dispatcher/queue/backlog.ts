/** Which destinations may have more due deliveries in the database than this process had capacity for. */
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import { NIL_UUID } from '@creditlane/runtime/ids';
import type { LeasedDelivery } from './delivery.ts';

/** When deliveries become due is remembered within this time; the claimer's poll finds later ones. */
const REMEMBERED_MS = 60_000;
/** Deliveries that become due within this time are claimed together. */
const DUE_STEP_MS = 100;

/** How many more deliveries a claim may lease. It names to the database the destinations that differ from the others. */
export interface ClaimCapacity {
  readonly total: number;
  readonly byDestination: ReadonlyMap<string, number>;
  /** For each destination that `byDestination` does not name. */
  readonly otherDestinations: number;
}

export class Backlog {
  /** Signalled when a claim may bring deliveries. */
  readonly claimable = new WakeSignal();
  readonly #destinationIds = new Set<string>();
  /** When deliveries of this process become due, by performance.now(), in steps of DUE_STEP_MS. */
  readonly #dueMs = new Set<number>();
  #cursor = NIL_UUID;
  #onAdded: (destinationIds: ReadonlySet<string>) => void = () => {};

  /** Calls `listener` when destinations with due deliveries are added. */
  onAdded(listener: (destinationIds: ReadonlySet<string>) => void): void {
    this.#onAdded = listener;
  }

  /** The next claim is of the destinations after this id. */
  get cursor(): string {
    return this.#cursor;
  }

  /** Whether the last claim was cut off by the total capacity: then any destination may have a backlog. */
  get isCutOff(): boolean {
    return this.#cursor !== NIL_UUID;
  }

  /** Whether a destination may have a backlog. */
  mayInclude(destinationId: string): boolean {
    return this.isCutOff || this.#destinationIds.has(destinationId);
  }

  /** Whether no destination can have a backlog. */
  get isEmpty(): boolean {
    return !this.isCutOff && this.#destinationIds.size === 0;
  }

  /** Remembers that a delivery becomes due, or its hold ends, in `delayMs`. */
  expectDue(delayMs: number): void {
    if (delayMs > REMEMBERED_MS) return;
    const dueMs = Math.ceil((performance.now() + delayMs) / DUE_STEP_MS) * DUE_STEP_MS;
    const isFirst = dueMs < Math.min(...this.#dueMs);
    this.#dueMs.add(dueMs);
    // The claimer may have begun a longer wait.
    if (isFirst) this.claimable.signal();
  }

  /** Forgets what was due by this time. Called after a claim: the next poll finds what the claim did not bring. */
  forgetDue(byMs: number): void {
    for (const dueMs of this.#dueMs) if (dueMs <= byMs) this.#dueMs.delete(dueMs);
  }

  /** In how many milliseconds the next expected delivery is due: 0 when it is, infinite when none is expected. */
  nextDueInMs(nowMs: number): number {
    return Math.max(0, Math.min(...this.#dueMs) - nowMs);
  }

  /** The destinations that may have a backlog, as far as they are known. */
  get destinationIds(): Iterable<string> {
    return this.#destinationIds;
  }

  /** Adds destinations with due deliveries that no process has leased. */
  add(destinationIds: Iterable<string>): void {
    const added = new Set(destinationIds);
    for (const id of added) this.#destinationIds.add(id);
    this.claimable.signal();
    this.#onAdded(added);
  }

  /** Wakes the claimer when capacity has become free that a backlog may use. */
  useFreedCapacity(destinationId: string, hasCapacity: boolean): void {
    if (this.isCutOff || (hasCapacity && this.#destinationIds.has(destinationId))) {
      this.claimable.signal();
    }
  }

  /**
   * Updates the backlog after a claim with that capacity. A destination that filled its capacity may
   * have more deliveries; one that did not has none. A claim that was cut off by the total says nothing
   * about the destinations after the last one, where the next claim continues.
   */
  update(claimed: readonly LeasedDelivery[], capacity: ClaimCapacity, cutOff: boolean): void {
    const { byDestination, otherDestinations } = capacity;
    const capacityOf = (id: string) => byDestination.get(id) ?? otherDestinations;
    const counts = new Map<string, number>();
    for (const { destinationId } of claimed) {
      counts.set(destinationId, (counts.get(destinationId) ?? 0) + 1);
    }
    this.#cursor = cutOff ? ([...counts.keys()].sort().at(-1) ?? NIL_UUID) : NIL_UUID;
    for (const [id, count] of counts) if (count >= capacityOf(id)) this.#destinationIds.add(id);
    if (cutOff) return;
    for (const id of this.#destinationIds) {
      if ((counts.get(id) ?? 0) < capacityOf(id)) this.#destinationIds.delete(id);
    }
  }
}
