/** Work that costs less together: what comes while others are under way goes into one round. */

export interface BatcherOptions {
  /** Rounds under way at the same time. */
  maxConcurrent: number;
  /** Items of one round at most. */
  maxItems: number;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Gathers items into rounds without ever waiting for more: a round begins as soon as one may, with
 * all that has come by then, so it is small when there is little to do and large when there is much.
 */
export class Batcher<Item, Result> {
  readonly #work: (items: Item[]) => Promise<readonly Result[]>;
  readonly #options: BatcherOptions;
  readonly #running = new Set<Promise<void>>();
  #waiting: Waiting<Item, Result>[] = [];
  #rounds = 0;
  #beginning = false;

  /** `work` gives a result for each item, in their order. */
  constructor(work: (items: Item[]) => Promise<readonly Result[]>, options: BatcherOptions) {
    this.#work = work;
    this.#options = options;
  }

  /** The item's own result; rejects with what its round rejected with. */
  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ item, resolve, reject });
    if (!this.#beginning && this.#rounds < this.#options.maxConcurrent) this.#begin();
    return promise;
  }

  /** Resolves once nothing waits or is under way. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #begin(): void {
    this.#beginning = true;
    this.#rounds += 1;
    const running = this.#run();
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  async #run(): Promise<void> {
    // Whatever comes in this turn of the event loop goes together.
    await new Promise((resolve) => setImmediate(resolve));
    this.#beginning = false;
    while (this.#waiting.length > 0) {
      const round = this.#waiting.splice(0, this.#options.maxItems);
      try {
        const results = await this.#work(round.map(({ item }) => item));
        // The work gives as many results as it got items.
        for (const [n, { resolve }] of round.entries()) resolve(results[n] as Result);
      } catch (error) {
        for (const { reject } of round) reject(error);
      }
    }
    // In the same breath as the test above, so that nothing comes unseen between the two.
    this.#rounds -= 1;
  }
}
