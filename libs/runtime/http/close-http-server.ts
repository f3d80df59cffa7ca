import type { Server } from 'node:http';
import { type Server as ListeningServer, Server as TcpServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

const IDLE_SWEEP_MS = 50;

/**
 * Closes an HTTP server: it accepts the connections that the system has queued for it and no further one, requests under way
 * get `gracePeriodMs` to end, and connections that are still open then are cut. Idle connections are closed after
 * `idlePeriodMs`, until which their clients may send a request. Rejects when the server does not listen. `others` are further servers
 * that accept connections for it, see `listenBySeveral`.
 */
export async function closeHttpServer(
  server: Server,
  gracePeriodMs: number,
  idlePeriodMs = 0,
  others: readonly ListeningServer[] = [],
): Promise<void> {
  const cutOff = setTimeout(() => server.closeAllConnections(), gracePeriodMs);
  let sweep: NodeJS.Timeout | undefined;
  try {
    await acceptQueued(server, gracePeriodMs / 2);
    const idleEnd = setTimeout(
      () => {
        // Node closes idle connections at `close` only. A connection with a request under way is idle later.
        server.close();
        sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
      },
      Math.min(idlePeriodMs, gracePeriodMs),
    );
    const closed = [server, ...others].map(stopListening);
    await Promise.all(closed).finally(() => clearTimeout(idleEnd));
  } finally {
    clearInterval(sweep);
    clearTimeout(cutOff);
    // Ends the server's own timer when no connection was idle.
    server.close();
  }
}

/**
 * Resolves once the system has no connection queued for the server, at the latest after `withinMs`. When a server stops to listen,
 * the system resets the queued connections, although their clients take them for established. libuv accepts one connection
 * of each socket in a turn of the event loop, so a turn that brings none finds the queues empty.
 */
async function acceptQueued(server: Server, withinMs: number): Promise<void> {
  const endMs = performance.now() + withinMs;
  let isEmpty: boolean;
  const onConnection = () => {
    isEmpty = false;
  };
  server.on('connection', onConnection);
  // Between two immediates the event loop looks for what has arrived once; the first one ends the present turn.
  await nextTurn();
  do {
    isEmpty = true;
    await nextTurn();
  } while (!isEmpty && performance.now() < endMs);
  server.off('connection', onConnection);
}

/** Resolves once all connections are closed. The close of the HTTP server would also close the idle connections at once. */
function stopListening(server: ListeningServer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  TcpServer.prototype.close.call(server, (error) => (error ? reject(error) : resolve()));
  return promise;
}
