/** Work that waits for its turn: some of it runs at the same time, in the order of arrival. */
import { overloaded } from './shared-limit.ts';

export interface TurnQueueOptions {
  maxRunning: number;
  maxWaiting: number;
  /** The message of the 503 when too much work waits. */
  full: string;
}

export class TurnQueue {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #full: string;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor({ maxRunning, maxWaiting, full }: TurnQueueOptions) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
    this.#full = full;
  }

  /** Whether no work runs or waits. */
  get isIdle(): boolean {
    return this.#running === 0;
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
    if (this.#waiting.length >= this.#maxWaiting) throw overloaded(this.#full);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
