/** Work that waits for its turn: a limit for all work, and a smaller one for the work of each key. */

/** On whose behalf work is done; the call that a handler answers is one. */
export interface TurnCaller {
  /** Without one, the work is the process's own. */
  readonly identity?: { readonly subject: string };
  /** Aborts when the caller no longer waits for the work. */
  readonly signal?: AbortSignal | undefined;
}

export interface TurnOptions {
  maxRunning: number;
  maxRunningPerKey: number;
  maxWaitingPerKey?: number;
  /** How long work waits for its turn. */
  waitMs: number;
  /** The error of work that waited for longer, or that finds as much waiting for its key as may wait. */
  refuse(reason: 'waited_too_long' | 'too_many_waiting'): Error;
}

interface Key {
  running: number;
  /** By caller: start the work that waits for a turn, oldest first. The caller whose work has started last is the last. */
  readonly waiting: Map<string, Set<() => void>>;
}

/**
 * Keys take turns: the key whose work has started last is the last to start other work. So do the callers of a key.
 */
export class Turns {
  readonly #options: TurnOptions;
  /** The keys of work that runs or waits; the key whose work has started last is the last. */
  readonly #keys = new Map<string, Key>();
  #running = 0;
  #waiting = 0;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /** The work that waits for its turn. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Does the work of a key when it is its turn. Does not begin once the caller has left, and rejects with the reason of the
   * caller's signal. The turn lasts until the work has ended, also when the caller leaves meanwhile.
   */
  async run<T>(name: string, work: () => Promise<T>, caller: TurnCaller = {}): Promise<T> {
    await this.#take(name, caller);
    try {
      return await work();
    } finally {
      this.#end(name);
    }
  }

  async #take(name: string, { identity, signal }: TurnCaller): Promise<void> {
    signal?.throwIfAborted();
    const key = this.#keys.get(name) ?? { running: 0, waiting: new Map() };
    if (this.#mayStart(key)) {
      this.#start(name, key);
      return;
    }
    const { maxWaitingPerKey = Infinity, waitMs, refuse } = this.#options;
    if (waitingOf(key) >= maxWaitingPerKey) throw refuse('too_many_waiting');
    this.#keys.set(name, key);
    const caller = identity?.subject ?? '';
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      stopWaiting();
      this.#start(name, key);
      resolve();
    };
    const giveUp = () => {
      stopWaiting();
      if (key.running === 0 && key.waiting.size === 0) this.#keys.delete(name);
      reject(signal?.aborted ? signal.reason : refuse('waited_too_long'));
    };
    const stopWaiting = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      const ofCaller = key.waiting.get(caller);
      ofCaller?.delete(start);
      key.waiting.delete(caller);
      // The caller's other work waits behind that of all others.
      if (ofCaller !== undefined && ofCaller.size > 0) key.waiting.set(caller, ofCaller);
      this.#waiting -= 1;
    };
    const timer = setTimeout(giveUp, waitMs);
    signal?.addEventListener('abort', giveUp, { once: true });
    key.waiting.set(caller, (key.waiting.get(caller) ?? new Set()).add(start));
    this.#waiting += 1;
    await promise;
  }

  #mayStart(key: Key): boolean {
    const { maxRunning, maxRunningPerKey } = this.#options;
    return this.#running < maxRunning && key.running < maxRunningPerKey;
  }

  #start(name: string, key: Key): void {
    this.#running += 1;
    key.running += 1;
    this.#keys.delete(name);
    this.#keys.set(name, key);
  }

  #end(name: string): void {
    const ended = this.#keys.get(name);
    if (ended === undefined) return;
    this.#running -= 1;
    ended.running -= 1;
    if (ended.running === 0 && ended.waiting.size === 0) this.#keys.delete(name);
    for (const key of this.#keys.values()) {
      const [ofCaller] = key.waiting.values();
      const [start] = ofCaller ?? [];
      if (start !== undefined && this.#mayStart(key)) {
        start();
        return;
      }
    }
  }
}

function waitingOf({ waiting }: Key): number {
  return [...waiting.values()].reduce((sum, { size }) => sum + size, 0);
}
