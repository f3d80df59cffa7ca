/** Groups concurrent work into rounds that cost less than the same work item by item. */

export interface BatcherOptions {
  /** How many rounds may run at the same time. */
  maxConcurrent: number;
  /** How many items a round may have. */
  maxItems: number;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Groups items into rounds and never waits for a round to fill. A round starts as soon as the limit of
 * concurrent rounds allows, with all items that wait then: rounds are small under low load and large
 * under high load.
 */
export class Batcher<Item, Result> {
  readonly #runRound: (items: Item[]) => Promise<readonly Result[]>;
  readonly #options: BatcherOptions;
  readonly #running = new Set<Promise<void>>();
  #waiting: Waiting<Item, Result>[] = [];
  #rounds = 0;
  /** Whether a round waits for the end of this turn of the event loop. */
  #starting = false;

  /** `runRound` returns one result for each item, in the order of the items. */
  constructor(runRound: (items: Item[]) => Promise<readonly Result[]>, options: BatcherOptions) {
    this.#runRound = runRound;
    this.#options = options;
  }

  /** Returns the item's own result; rejects with the error of its round. */
  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ item, resolve, reject });
    if (!this.#starting && this.#rounds < this.#options.maxConcurrent) this.#start();
    return promise;
  }

  /** Resolves once no item waits and no round runs. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #start(): void {
    this.#starting = true;
    this.#rounds += 1;
    const running = this.#run();
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  async #run(): Promise<void> {
    // Items that are added in this turn of the event loop share the round.
    await new Promise((resolve) => setImmediate(resolve));
    this.#starting = false;
    while (this.#waiting.length > 0) {
      const round = this.#waiting.splice(0, this.#options.maxItems);
      try {
        const results = await this.#runRound(round.map(({ item }) => item));
        for (const [n, { resolve }] of round.entries()) resolve(results[n] as Result);
      } catch (error) {
        for (const { reject } of round) reject(error);
      }
    }
    // Synchronous after the loop's test, so that no item is added between the two and left waiting.
    this.#rounds -= 1;
  }
}
