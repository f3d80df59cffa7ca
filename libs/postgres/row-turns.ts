/** Turns at the locks of rows: bounds the connections that writes hold while they wait for a row. */
import { LockTimeoutError } from './error-classes.ts';

/**
 * The next writes of a row wait in PostgreSQL, so that they start as soon as the one before them commits. 900
 * writes of a row at once took 2.1 to 4.0 s with two connections, 1.2 to 2.5 s with three, and 0.9 to 1.8 s
 * with all ten of the pool (four runs in turns, 2 busy cores).
 */
const MAX_PER_ROW = 3;

interface Row {
  underWay: number;
  /** Start the writes that wait for a turn, oldest first. */
  readonly waiting: Set<() => void>;
}

/**
 * Writes of rows take at most half of a pool's connections, and those of one row at most three. So a row that
 * another session holds leaves connections for other rows and for reads, however many writes wait for it.
 * Rows take turns: the row whose write has started last is the last to start another one.
 */
export class RowTurns {
  readonly #maxUnderWay: number;
  readonly #maxPerRow: number;
  readonly #waitMs: number;
  /** The rows that writes use or wait for; the row whose write has started last is the last. */
  readonly #rows = new Map<string, Row>();
  #underWay = 0;
  #waiting = 0;

  /** `connections` is the size of the pool, `waitMs` how long a write waits for its turn. */
  constructor({ connections, waitMs }: { connections: number; waitMs: number }) {
    this.#maxUnderWay = Math.ceil(connections / 2);
    this.#maxPerRow = Math.min(MAX_PER_ROW, Math.ceil(this.#maxUnderWay / 2));
    this.#waitMs = waitMs;
  }

  /** The writes that wait for their turn and hold no connection. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Runs a write of `row`, any text that names the row, when it is the write's turn. Rejects with
   * `LockTimeoutError`, and does not run the write, when it is not its turn within the time limit.
   */
  async run<T>(row: string, write: () => Promise<T>): Promise<T> {
    await this.#take(row);
    try {
      return await write();
    } finally {
      this.#end(row);
    }
  }

  async #take(name: string): Promise<void> {
    const row = this.#rows.get(name) ?? { underWay: 0, waiting: new Set() };
    this.#rows.set(name, row);
    if (this.#mayStart(row)) {
      this.#start(name, row);
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#stopWaiting(row, start);
      if (row.underWay === 0 && row.waiting.size === 0) this.#rows.delete(name);
      reject(new LockTimeoutError());
    }, this.#waitMs);
    const start = () => {
      clearTimeout(timer);
      this.#stopWaiting(row, start);
      this.#start(name, row);
      resolve();
    };
    row.waiting.add(start);
    this.#waiting += 1;
    await promise;
  }

  #mayStart(row: Row): boolean {
    return this.#underWay < this.#maxUnderWay && row.underWay < this.#maxPerRow;
  }

  #start(name: string, row: Row): void {
    this.#underWay += 1;
    row.underWay += 1;
    this.#rows.delete(name);
    this.#rows.set(name, row);
  }

  #stopWaiting({ waiting }: Row, start: () => void): void {
    waiting.delete(start);
    this.#waiting -= 1;
  }

  #end(name: string): void {
    const row = this.#rows.get(name);
    if (row === undefined) return;
    this.#underWay -= 1;
    row.underWay -= 1;
    if (row.underWay === 0 && row.waiting.size === 0) this.#rows.delete(name);
    for (const next of this.#rows.values()) {
      const [start] = next.waiting;
      if (start !== undefined && this.#mayStart(next)) {
        start();
        return;
      }
    }
  }
}
