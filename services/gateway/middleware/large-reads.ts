/**
 * Serves the reads whose answers may be large because they hold a list or a file: a few of each caller at a time, and for
 * HEAD one record of a page at most.
 */
import { TurnQueue } from '../limits/turn-queue.ts';
import type { OperationMiddleware } from '../request-state.ts';

/**
 * A page of 256 KiB holds the event loop for 2 ms. Another caller's request waits for four pages of each caller at most,
 * instead of for a page of each request that the caller may have under way.
 */
const READS_AT_ONCE = 4;
/** Reads that wait also count as requests under way, of which a caller has its share. */
const MAX_WAITING = 1_000;

/** The reads under way, by caller. */
export class LargeReads {
  readonly #queues = new Map<string, TurnQueue>();

  /** Reads when it is the caller's turn. Throws an `overloaded` Fault when too many reads of the caller wait. */
  async run<T>(caller: string, read: () => Promise<T>): Promise<T> {
    let queue = this.#queues.get(caller);
    if (queue === undefined) {
      queue = new TurnQueue({
        maxRunning: READS_AT_ONCE,
        maxWaiting: MAX_WAITING,
        full: 'more reads of lists wait than are taken on at once',
      });
      this.#queues.set(caller, queue);
    }
    try {
      return await queue.run(read);
    } finally {
      // Another read that ended at once may have removed this queue, and a new read have made one of its own.
      if (queue.isIdle && this.#queues.get(caller) === queue) this.#queues.delete(caller);
    }
  }
}

/**
 * Waits for the caller's turn. For HEAD a page has one record, which is enough to find out whether the list can
 * be read, and no `Content-Length`: that of the page for GET is unknown.
 */
export function readInTurn(reads: LargeReads): OperationMiddleware {
  return async function readInTurn(ctx, next) {
    const { caller, parameters } = ctx.state;
    const isHeadOfPage = ctx.method === 'HEAD' && parameters.query.limit !== undefined;
    if (isHeadOfPage) parameters.query.limit = 1;
    await reads.run(caller.id, next);
    if (!isHeadOfPage) return;
    ctx.body = '';
    ctx.remove('Content-Length');
    ctx.vary('Accept-Encoding');
  };
}
