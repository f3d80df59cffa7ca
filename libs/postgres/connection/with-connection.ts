/** Runs work on a connection of a pool. */
import type pg from 'pg';
import { isDatabaseUnavailable } from '../error-classes.ts';

interface WaitingCall {
  sinceMs: number;
  resolve: (client: pg.PoolClient) => void;
  reject: (error: unknown) => void;
}

interface Queue {
  /** The calls that have no connection yet, oldest first. */
  calls: Set<WaitingCall>;
  /** How many connections the pool was asked for and has not given; never fewer than the calls. */
  asked: number;
}

const queues = new WeakMap<pg.Pool, Queue>();

/**
 * Runs `work` on a connection and returns the connection to the pool afterwards. The connection is
 * closed instead when the database became unavailable or `work` called `discard`. A refused statement,
 * such as a violated unique constraint, does not close it (with `pool.query` it would, and each new
 * connection costs the server a fork).
 */
export async function withConnection<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient, discard: () => void) => Promise<T>,
): Promise<T> {
  const client = await takeConnection(pool);
  let isBroken = false;
  const discard = () => {
    isBroken = true;
  };
  // Without a listener, a connection lost between two statements would end the process.
  client.on('error', discard);
  try {
    return await work(client, discard);
  } catch (error) {
    if (isDatabaseUnavailable(error)) discard();
    throw error;
  } finally {
    client.off('error', discard);
    client.release(isBroken);
    // The pool keeps each new connection for the call that opened it, however late the connection is.
    if (pool.idleCount > 0 && queueOf(pool).calls.size > 0) {
      pool.connect().then(
        (freed) => serveOldest(pool, freed),
        () => undefined,
      );
    }
  }
}

/**
 * Gives a connection, to the oldest call first, whichever is there first: one that comes free, or a new one. On a machine whose
 * processors are all busy, a new connection may take longer than its time limit. Rejects when the new one fails first.
 */
function takeConnection(pool: pg.Pool): Promise<pg.PoolClient> {
  const { promise, resolve, reject } = Promise.withResolvers<pg.PoolClient>();
  const call = { sinceMs: performance.now(), resolve, reject };
  queueOf(pool).calls.add(call);
  askFor(pool, call);
  return promise;
}

/** Asks the pool for a connection, which the call that is the oldest by then gets. */
function askFor(pool: pg.Pool, call: WaitingCall): void {
  const queue = queueOf(pool);
  queue.asked += 1;
  pool.connect().then(
    (client) => {
      queue.asked -= 1;
      serveOldest(pool, client);
    },
    (error) => {
      queue.asked -= 1;
      if (queue.calls.delete(call)) call.reject(error);
      else replaceFailed(pool, error);
    },
  );
}

/**
 * Called when the connection that a call asked for fails, after the call was given another one. When fewer connections are under
 * way than calls wait, the oldest call asks for one. If that call has waited for the pool's time limit, it is refused instead:
 * so no call waits for more than twice that time.
 */
function replaceFailed(pool: pg.Pool, error: unknown): void {
  const { calls, asked } = queueOf(pool);
  const [oldest] = calls;
  if (oldest === undefined || asked >= calls.size) return;
  const limitMs = pool.options.connectionTimeoutMillis ?? 0;
  if (performance.now() - oldest.sinceMs < limitMs) {
    askFor(pool, oldest);
  } else {
    calls.delete(oldest);
    oldest.reject(error);
  }
}

/** Gives a connection to the call that waits for the longest time, or back to the pool. */
function serveOldest(pool: pg.Pool, client: pg.PoolClient): void {
  const { calls } = queueOf(pool);
  const [oldest] = calls;
  if (oldest === undefined) {
    client.release();
    return;
  }
  calls.delete(oldest);
  oldest.resolve(client);
}

function queueOf(pool: pg.Pool): Queue {
  const queue = queues.get(pool) ?? { calls: new Set(), asked: 0 };
  queues.set(pool, queue);
  return queue;
}
