/** Turns at the locks of rows: bounds the connections that writes hold while they wait for a row. */
import { Turns } from '@creditlane/runtime/concurrency/turns';
import { LockTimeoutError } from './error-classes.ts';

/**
 * The next writes of a row wait in PostgreSQL, so that they start as soon as the one before them commits. 900
 * writes of a row at once took 2.1 to 4.0 s with two connections, 1.2 to 2.5 s with three, and 0.9 to 1.8 s
 * with all ten of the pool (four runs in turns, 2 busy cores).
 */
const MAX_PER_ROW = 3;

/**
 * Writes of rows take at most half of a pool's connections, and those of one row at most three. So a row that
 * another session holds leaves connections for other rows and for reads, however many writes wait for it.
 * The key of a turn is any text that names the row. A write that has no turn in time rejects with `LockTimeoutError`.
 */
export class RowTurns extends Turns {
  /** `connections` is the size of the pool, `waitMs` how long a write waits for its turn. */
  constructor({ connections, waitMs }: { connections: number; waitMs: number }) {
    const maxRunning = Math.ceil(connections / 2);
    super({
      maxRunning,
      maxRunningPerKey: Math.min(MAX_PER_ROW, Math.ceil(maxRunning / 2)),
      waitMs,
      refuse: () => new LockTimeoutError(),
    });
  }
}
