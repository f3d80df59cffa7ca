import type { Server } from 'node:http';
import { Server as TcpServer } from 'node:net';

const IDLE_SWEEP_MS = 50;

/**
 * Closes an HTTP server: it accepts no further connection, requests under way get `gracePeriodMs`
 * to end, and connections that are still open then are cut. Idle connections are closed after
 * `idlePeriodMs`, until which their clients may send a request. Rejects when the server does not listen.
 */
export function closeHttpServer(
  server: Server,
  gracePeriodMs: number,
  idlePeriodMs = 0,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let sweep: NodeJS.Timeout | undefined;
  const closeIdle = () => {
    // Node closes idle connections at `close` only. A connection with a request under way is idle later.
    server.close();
    sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
  };
  const idleEnd = setTimeout(closeIdle, Math.min(idlePeriodMs, gracePeriodMs));
  const cutOff = setTimeout(() => server.closeAllConnections(), gracePeriodMs);
  // The close of the HTTP server would also close the idle connections at once.
  TcpServer.prototype.close.call(server, (error) => {
    clearTimeout(idleEnd);
    clearInterval(sweep);
    clearTimeout(cutOff);
    // Ends the server's own timer when no connection was idle.
    server.close();
    if (error === undefined) resolve();
    else reject(error);
  });
  return promise;
}
