/** The pool of one scope, on which requests run: row security hides the rows outside of the scope. */
import type { TurnCaller } from '@creditlane/runtime/concurrency/turns';
import type pg from 'pg';
import { withConnection } from '../connection/with-connection.ts';
import type { Query } from '../pipeline/prepared-query.ts';
import type { RowTurns } from '../row-turns.ts';

/**
 * The connections of a pool for the requests of one scope. Every transaction begins with `enterScope`, in the
 * same round trip as the query after it; the end of the transaction leaves the scope.
 */
export class ScopedPool {
  readonly #owner: pg.Pool;
  readonly #rowTurns: RowTurns;
  readonly #caller: TurnCaller;
  /** The row at whose lock each transaction takes a turn. */
  readonly #row: string | undefined;
  /** Changes to the request role and sets its scope, until the transaction ends. */
  readonly enterScope: Query<unknown>;

  constructor(
    owner: pg.Pool,
    rowTurns: RowTurns,
    enterScope: Query<unknown>,
    caller: TurnCaller,
    row?: string,
  ) {
    this.#owner = owner;
    this.#rowTurns = rowTurns;
    this.#caller = caller;
    this.#row = row;
    this.enterScope = enterScope;
  }

  /**
   * For a transaction that may wait for the lock of `row`, any text that names the row: it gets its connection
   * when it is its turn (`RowTurns`). It must not take a second connection meanwhile. It does not begin once its call has
   * ended, and rejects with the reason of the call's signal; `caller` is without a signal where the transaction records
   * what has happened already.
   */
  onRow(row: string, caller = this.#caller): ScopedPool {
    return new ScopedPool(this.#owner, this.#rowTurns, this.enterScope, caller, row);
  }

  /** Runs `work` on a connection that has not entered the scope yet. */
  connect<T>(work: (client: pg.PoolClient, discard: () => void) => Promise<T>): Promise<T> {
    if (this.#row === undefined) return withConnection(this.#owner, work);
    const write = () =>
      withConnection(this.#owner, (client, discard) => {
        // The caller may have left while the write waited for a connection.
        this.#caller.signal?.throwIfAborted();
        return work(client, discard);
      });
    return this.#rowTurns.run(this.#row, write, this.#caller);
  }
}
