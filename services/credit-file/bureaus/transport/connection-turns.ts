/** The turns of the inquiries to one base URL: as many may be under way at once as there are connections. */
import { NotSentError } from './inquiry-outcome.ts';

export class ConnectionTurns {
  #free: number;
  #isStopped = false;
  readonly #waiting = new Set<PromiseWithResolvers<void>>();

  constructor(connections: number) {
    this.#free = connections;
  }

  /** Does the work in its turn. Rejects with a NotSentError when the turn does not come within `withinMs`, or after `stop`. */
  async run<T>(withinMs: number, work: () => Promise<T>): Promise<T> {
    if (this.#isStopped) throw new NotSentError('stopping');
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(withinMs);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else this.#end(next).resolve();
    }
  }

  /** Ends the waits, and lets no further work begin; work under way goes on. */
  stop(): void {
    this.#isStopped = true;
    for (const waiting of this.#waiting) this.#end(waiting).reject(new NotSentError('stopping'));
  }

  async #turn(withinMs: number): Promise<void> {
    const waiting = Promise.withResolvers<void>();
    this.#waiting.add(waiting);
    const timer = setTimeout(
      () => this.#end(waiting).reject(new NotSentError('connections_busy')),
      Math.max(0, withinMs),
    );
    await waiting.promise.finally(() => clearTimeout(timer));
  }

  #end(waiting: PromiseWithResolvers<void>): PromiseWithResolvers<void> {
    this.#waiting.delete(waiting);
    return waiting;
  }
}
