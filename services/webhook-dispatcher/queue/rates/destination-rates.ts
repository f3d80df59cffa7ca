/** The rate limits of destinations as this process knows them: those of the database, and what its attempts have found since. */
import type { DestinationRate } from '../../store/rates.ts';

/** A destination as the integrations service has it. */
interface FoundRate {
  readonly revision: number;
  readonly deliveriesPerSecond?: number | undefined;
}

type Known = Omit<DestinationRate, 'destinationId'>;

/** What is to be written; without `perSecond`, that the destination has no limit. */
type RateChange = Known | { readonly revision: number; readonly perSecond: undefined };

export class DestinationRates {
  /** Is called when a change is to be written, or a claim may bring deliveries to limited destinations. */
  onWork: () => void = () => undefined;
  #known = new Map<string, Known>();
  /** What the database may not hold yet. */
  readonly #changes = new Map<string, RateChange>();
  /**
   * When a claim may bring deliveries to a limited destination, by performance.now(). Infinite for one with more due deliveries
   * than this process has capacity for.
   */
  readonly #claimableMs = new Map<string, number>();

  /** Whether the destination has a limit, so that each attempt needs a permit. */
  has(destinationId: string): boolean {
    return this.#known.has(destinationId);
  }

  /** The limited destinations. */
  get ids(): string[] {
    return [...this.#known.keys()];
  }

  /** Whether there is nothing to write and nothing to claim. */
  get isEmpty(): boolean {
    return this.#known.size === 0 && this.#changes.size === 0;
  }

  /** Takes over what an attempt has found, which is then written if it is of a later revision than what this process knows. */
  note(destinationId: string, { revision, deliveriesPerSecond: perSecond }: FoundRate): void {
    const known = this.#known.get(destinationId);
    if (known === undefined && perSecond === undefined) return;
    // An earlier revision is from a cache. The same one without the limit is from an integrations service of an earlier version, which
    // knows no limits.
    if (known !== undefined && known.revision >= revision) return;
    if (perSecond === undefined) {
      this.#changes.set(destinationId, { revision, perSecond });
      this.#forget(destinationId);
    } else {
      const rate = { revision, perSecond };
      this.#changes.set(destinationId, rate);
      this.#known.set(destinationId, rate);
      this.addClaimable([destinationId]);
    }
    this.onWork();
  }

  /** Has a claim made at once for those of these destinations that are limited, unless one is expected later. */
  addClaimable(destinationIds: Iterable<string>): void {
    const added = [...destinationIds].filter((id) => this.has(id) && !this.#claimableMs.has(id));
    if (added.length === 0) return;
    for (const id of added) this.#claimableMs.set(id, 0);
    this.onWork();
  }

  /** Has a claim made for the limited destination at that time, by performance.now(), and not before. */
  expectPermit(destinationId: string, timeMs: number): void {
    this.#claimableMs.set(destinationId, timeMs);
  }

  /** Has a claim made for the limited destination as soon as this process has capacity for it, and not before. */
  awaitCapacity(destinationId: string): void {
    this.#claimableMs.set(destinationId, Infinity);
  }

  /** Called when capacity for a destination has become free. */
  useFreedCapacity(destinationId: string): void {
    if (this.#claimableMs.get(destinationId) !== Infinity) return;
    this.#claimableMs.set(destinationId, 0);
    this.onWork();
  }

  /** In how many milliseconds a claim may bring deliveries; infinite when none is expected to. */
  nextClaimInMs(nowMs: number): number {
    let nextMs = Infinity;
    for (const timeMs of this.#claimableMs.values()) nextMs = Math.min(nextMs, timeMs);
    return Math.max(0, nextMs - nowMs);
  }

  /** The destinations for which a claim is to be made now. Until its result, none is expected for them. */
  takeClaimable(nowMs: number): string[] {
    const due = [...this.#claimableMs].filter(([, timeMs]) => timeMs <= nowMs).map(([id]) => id);
    for (const id of due) this.#claimableMs.delete(id);
    return due;
  }

  /** As `takeClaimable`, for a claim that looks at all limited destinations. */
  takeAll(): string[] {
    this.#claimableMs.clear();
    return this.ids;
  }

  /** The changes that are to be written now. */
  unwritten(): ReadonlyMap<string, RateChange> {
    return new Map(this.#changes);
  }

  /** Called when these changes are written. One that was made meanwhile is still to be written. */
  markWritten(changes: ReadonlyMap<string, RateChange>): void {
    for (const [id, change] of changes) {
      if (this.#changes.get(id) === change) this.#changes.delete(id);
    }
  }

  /** Takes over what the database holds, and returns the destinations that are limited no longer. */
  replace(stored: readonly DestinationRate[]): string[] {
    const before = this.#known;
    this.#known = new Map(stored.map(({ destinationId, ...rate }) => [destinationId, rate]));
    for (const [id, { revision, perSecond }] of this.#changes) {
      if (perSecond === undefined) this.#known.delete(id);
      else this.#known.set(id, { revision, perSecond });
    }
    const removed = [...before.keys()].filter((id) => !this.has(id));
    for (const id of removed) this.#forget(id);
    this.addClaimable(this.ids.filter((id) => !before.has(id)));
    return removed;
  }

  #forget(destinationId: string): void {
    this.#known.delete(destinationId);
    this.#claimableMs.delete(destinationId);
  }
}
