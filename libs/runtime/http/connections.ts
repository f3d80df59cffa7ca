/** Which connections of a server are closed: for a new one above a limit, and when the server closes. */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Above `max` connections, destroys the one that has had no request under way for the longest time; those
 * without an answer that `isAuthenticated` accepts come first. When every other connection has a request
 * under way, the one goes whose requests have been under way for the longest time and are not served yet: each is still
 * arriving, or has no answer that `isAuthenticated` accepts. Otherwise clients that send or read slowly could take
 * all connections. When there is none, the new one is destroyed. `onRefusal` is called for each that was not idle.
 */
export function limitConnections(
  server: Server,
  max: number,
  isAuthenticated: (res: ServerResponse) => boolean,
  onRefusal: () => void,
): void {
  const open = new Set<Socket>();
  const authenticated = new WeakSet<Socket>();
  // Sets and maps keep the order of insertion: the connection that has been idle, or at work, longest comes first.
  const idle = new Set<Socket>();
  const idleAuthenticated = new Set<Socket>();
  /** The answers to the requests under way. */
  const underWay = new Map<Socket, Set<ServerResponse>>();
  const leaveIdle = (socket: Socket) => {
    idle.delete(socket);
    idleAuthenticated.delete(socket);
  };
  const remove = (socket: Socket) => {
    open.delete(socket);
    underWay.delete(socket);
    leaveIdle(socket);
  };
  const isServed = (res: ServerResponse) => res.req.complete && isAuthenticated(res);
  const findUnserved = () => {
    for (const [socket, answers] of underWay) if (!answers.values().some(isServed)) return socket;
    return undefined;
  };

  server.on('connection', (socket: Socket) => {
    if (open.size >= max) {
      const [longestIdle] = idle.size > 0 ? idle : idleAuthenticated;
      const closed = longestIdle ?? findUnserved() ?? socket;
      if (longestIdle === undefined) onRefusal();
      remove(closed);
      closed.destroy();
      if (closed === socket) return;
    }
    open.add(socket);
    idle.add(socket);
    socket.once('close', () => remove(socket));
  });

  server.on('request', ({ socket }, res) => {
    if (!open.has(socket)) return;
    leaveIdle(socket);
    const answers = underWay.get(socket) ?? new Set();
    underWay.set(socket, answers.add(res));
    res.once('close', () => {
      if (!open.has(socket)) return;
      if (isAuthenticated(res)) authenticated.add(socket);
      answers.delete(res);
      if (answers.size > 0) return;
      underWay.delete(socket);
      (authenticated.has(socket) ? idleAuthenticated : idle).add(socket);
    });
  });
}

/**
 * Has `server.closeIdleConnections` close connections on which nothing has arrived, too, such as those that a browser opens
 * ahead. Node takes each for one with a request under way, for which a server that closes waits.
 */
export function countUnusedAsIdle(server: Server): void {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const closeIdleConnections = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    closeIdleConnections();
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
}
