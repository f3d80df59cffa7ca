/** The rate limits of destinations as this process knows them: those of the database, and what it has found out since. */
import type { DestinationRate } from '../../store/rates.ts';

/** What a destination is set to. */
interface FoundRate {
  readonly revision: number;
  readonly deliveriesPerSecond?: number | undefined;
}

type Known = Omit<DestinationRate, 'destinationId'>;

/** What is to be written: a limit, or that there is none. */
type RateChange = Known | { readonly revision: number; readonly perSecond: undefined };

export class DestinationRates {
  /** Is called when a change is to be written, or a claim may bring deliveries to limited destinations. */
  onWork: () => void = () => undefined;
  #known = new Map<string, Known>();
  #changes = new Map<string, RateChange>();
  /** When a claim may bring deliveries to a limited destination, by performance.now(). */
  readonly #claimableMs = new Map<string, number>();
  /** Limited destinations with more due deliveries than this process has capacity for. */
  readonly #withoutCapacity = new Set<string>();

  /** Whether nothing may be sent to the destination without a permit. */
  has(destinationId: string): boolean {
    return this.#known.has(destinationId);
  }

  get ids(): string[] {
    return [...this.#known.keys()];
  }

  get isEmpty(): boolean {
    return this.#known.size === 0 && this.#changes.size === 0;
  }

  /** Takes over what the integrations service says of the destination, and has it written when the database holds something else. */
  note(destinationId: string, { revision, deliveriesPerSecond: perSecond }: FoundRate): void {
    const known = this.#known.get(destinationId);
    if (known?.perSecond === perSecond) return;
    // What another replica has stored of a later revision.
    if (known !== undefined && known.revision > revision) return;
    if (perSecond === undefined) {
      this.#known.delete(destinationId);
      this.#changes.set(destinationId, { revision, perSecond });
    } else {
      this.#known.set(destinationId, { revision, perSecond });
      this.#changes.set(destinationId, { revision, perSecond });
    }
    this.addClaimable([destinationId]);
    this.onWork();
  }

  /** Has a claim made for those of these destinations that are limited. */
  addClaimable(destinationIds: Iterable<string>): void {
    const limited = [...destinationIds].filter((id) => this.has(id));
    if (limited.length === 0) return;
    // One that has no permit left is claimed for once it has regained one.
    for (const id of limited) if (!this.#claimableMs.has(id)) this.#claimableMs.set(id, 0);
    this.onWork();
  }

  /** Has a claim made for the limited destination at that time, by performance.now(). */
  expectPermit(destinationId: string, timeMs: number): void {
    this.#claimableMs.set(destinationId, timeMs);
  }

  /** Has a claim made for the limited destination as soon as this process has capacity for it. */
  awaitCapacity(destinationId: string): void {
    this.#withoutCapacity.add(destinationId);
  }

  /** Called when capacity for a destination has become free. */
  useFreedCapacity(destinationId: string): void {
    if (this.#withoutCapacity.delete(destinationId)) this.addClaimable([destinationId]);
  }

  /** In how many milliseconds a claim may bring deliveries; infinite when none is expected to. */
  nextClaimInMs(nowMs: number): number {
    return Math.max(0, Math.min(...this.#claimableMs.values()) - nowMs);
  }

  /** The destinations for which a claim is to be made now; they are forgotten. */
  takeClaimable(nowMs: number): string[] {
    const due = [...this.#claimableMs].filter(([, timeMs]) => timeMs <= nowMs).map(([id]) => id);
    for (const id of due) this.#claimableMs.delete(id);
    return due;
  }

  takeChanges(): ReadonlyMap<string, RateChange> {
    const changes = this.#changes;
    this.#changes = new Map();
    return changes;
  }

  /** Takes back what could not be written. */
  restore(changes: ReadonlyMap<string, RateChange>): void {
    this.#changes = new Map([...changes, ...this.#changes]);
  }

  /** Takes over what the database holds, and returns the destinations that are limited no longer. */
  replace(stored: readonly DestinationRate[]): string[] {
    const known = new Map<string, Known>(
      stored.map(({ destinationId, ...rate }) => [destinationId, rate]),
    );
    for (const [id, { revision, perSecond }] of this.#changes) {
      if (perSecond === undefined) known.delete(id);
      else known.set(id, { revision, perSecond });
    }
    const removed = [...this.#known.keys()].filter((id) => !known.has(id));
    const added = [...known.keys()].filter((id) => !this.#known.has(id));
    this.#known = known;
    this.addClaimable(added);
    for (const id of removed) {
      this.#claimableMs.delete(id);
      this.#withoutCapacity.delete(id);
    }
    return removed;
  }
}

/** The limits of these destinations, and the revisions of those that have none. */
export function splitChanges(changes: ReadonlyMap<string, RateChange>): {
  saved: DestinationRate[];
  removed: Map<string, number>;
} {
  const saved: DestinationRate[] = [];
  const removed = new Map<string, number>();
  for (const [destinationId, { revision, perSecond }] of changes) {
    if (perSecond === undefined) removed.set(destinationId, revision);
    else saved.push({ destinationId, revision, perSecond });
  }
  return { saved, removed };
}
