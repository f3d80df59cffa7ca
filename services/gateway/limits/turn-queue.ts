/** Work that waits for its turn: some of it runs at the same time, in the order of arrival. */
import { overloaded } from './shared-limit.ts';

export class TurnQueue {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor({ maxRunning, maxWaiting }: { maxRunning: number; maxWaiting: number }) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  /** Does the work when its turn comes. Throws an `overloaded` Fault when too much work waits. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#maxRunning) this.#running += 1;
    else await this.#turn();
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= this.#maxWaiting) {
      throw overloaded('more keys are being looked up than are taken on at once');
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
