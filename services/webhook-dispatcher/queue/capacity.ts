/** How many more deliveries a process may lease, in total and for each destination. */

/** For a claim, which names to the database the destinations that differ from the others. */
export interface ClaimCapacity {
  readonly total: number;
  readonly byDestination: ReadonlyMap<string, number>;
  /** For each destination that `byDestination` does not name. */
  readonly otherDestinations: number;
}

/** For an intake, which looks up the destinations of its events alone. */
export class IntakeCapacity {
  #total: number;
  readonly #capacityOf: (destinationId: string) => number;
  readonly #left = new Map<string, number>();

  constructor(total: number, capacityOf: (destinationId: string) => number) {
    this.#total = total;
    this.#capacityOf = capacityOf;
  }

  /** Takes the capacity for one delivery; false when none is left. */
  take(destinationId: string): boolean {
    const left = this.#left.get(destinationId) ?? this.#capacityOf(destinationId);
    if (left <= 0 || this.#total <= 0) return false;
    this.#left.set(destinationId, left - 1);
    this.#total -= 1;
    return true;
  }
}
