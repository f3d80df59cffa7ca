/**
 * The order in which destinations get their turns to send one delivery: round robin, so that many deliveries to one destination do
 * not delay those to another. While both wait, every second turn is that of a destination with a rate limit: its permits do not last as long
 * as a round of all others may take.
 */
import type { DestinationQueue } from './destination-queue.ts';
import type { DestinationRates } from './rates/destination-rates.ts';

export class Turns {
  readonly #rates: Pick<DestinationRates, 'has'>;
  readonly #limited = new Set<DestinationQueue>();
  readonly #others = new Set<DestinationQueue>();
  #isLimitedNext = true;

  constructor(rates: Pick<DestinationRates, 'has'>) {
    this.#rates = rates;
  }

  /** Queues a turn for the destination, unless it waits for one. */
  add(destination: DestinationQueue): void {
    const isLimited = this.#rates.has(destination.id);
    // Its limit may have been set or removed since it began to wait.
    (isLimited ? this.#others : this.#limited).delete(destination);
    (isLimited ? this.#limited : this.#others).add(destination);
  }

  /** Ends the wait of the destination whose turn it is; undefined when none waits. */
  next(): DestinationQueue | undefined {
    const first = this.#isLimitedNext ? this.#limited : this.#others;
    const second = this.#isLimitedNext ? this.#others : this.#limited;
    this.#isLimitedNext = !this.#isLimitedNext;
    for (const turns of [first, second]) {
      const [destination] = turns;
      if (destination === undefined) continue;
      turns.delete(destination);
      return destination;
    }
    return undefined;
  }
}
