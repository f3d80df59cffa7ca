import type { Server } from 'node:http';

const IDLE_SWEEP_MS = 50;

/**
 * Closes an HTTP server: it accepts no further connection, requests under way get `gracePeriodMs`
 * to end, and connections that are still open then are cut. Rejects when the server does not listen.
 */
export function closeHttpServer(server: Server, gracePeriodMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Node closes idle connections at `close` only. A connection with a request under way is idle later.
  const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
  const cutOff = setTimeout(() => server.closeAllConnections(), gracePeriodMs);
  server.close((error) => {
    clearInterval(sweep);
    clearTimeout(cutOff);
    if (error === undefined) resolve();
    else reject(error);
  });
  return promise;
}
