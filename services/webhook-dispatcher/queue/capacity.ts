/** How many more deliveries a process may lease, in total and for each destination. */
export class Capacity {
  readonly total: number;
  readonly byDestination: ReadonlyMap<string, number>;
  /** For each destination that `byDestination` does not name. */
  readonly otherDestinations: number;
  readonly #taken = new Map<string, number>();
  #takenTotal = 0;

  constructor(
    total: number,
    byDestination: ReadonlyMap<string, number>,
    otherDestinations: number,
  ) {
    this.total = total;
    this.byDestination = byDestination;
    this.otherDestinations = otherDestinations;
  }

  of(destinationId: string): number {
    return this.byDestination.get(destinationId) ?? this.otherDestinations;
  }

  /** Takes the place of one delivery; false when none is left. */
  take(destinationId: string): boolean {
    const taken = this.#taken.get(destinationId) ?? 0;
    if (taken >= this.of(destinationId) || this.#takenTotal >= this.total) return false;
    this.#taken.set(destinationId, taken + 1);
    this.#takenTotal += 1;
    return true;
  }
}
