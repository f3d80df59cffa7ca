/** Makes room for a new connection by closing the one that has been idle longest. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Above `max` connections, destroys the one that has had no request under way for the longest time; those
 * without an answer that `isAuthenticated` accepts come first. When every other connection has a request
 * under way, the new one is destroyed, and `onRefusal` is called.
 */
export function limitConnections(
  server: Server,
  max: number,
  isAuthenticated: (res: ServerResponse) => boolean,
  onRefusal: () => void,
): void {
  const open = new Set<Socket>();
  const underWay = new Map<Socket, number>();
  const authenticated = new WeakSet<Socket>();
  // Sets keep the order of insertion: the connection that has been idle longest comes first.
  const idle = new Set<Socket>();
  const idleAuthenticated = new Set<Socket>();
  const leaveIdle = (socket: Socket) => {
    idle.delete(socket);
    idleAuthenticated.delete(socket);
  };
  const remove = (socket: Socket) => {
    open.delete(socket);
    underWay.delete(socket);
    leaveIdle(socket);
  };

  server.on('connection', (socket: Socket) => {
    if (open.size >= max) {
      const [longestIdle] = idle.size > 0 ? idle : idleAuthenticated;
      if (longestIdle === undefined) {
        onRefusal();
        socket.destroy();
        return;
      }
      remove(longestIdle);
      longestIdle.destroy();
    }
    open.add(socket);
    idle.add(socket);
    socket.once('close', () => remove(socket));
  });

  server.on('request', ({ socket }: IncomingMessage, res: ServerResponse) => {
    if (!open.has(socket)) return;
    leaveIdle(socket);
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1);
    res.once('close', () => {
      if (!open.has(socket)) return;
      if (isAuthenticated(res)) authenticated.add(socket);
      const others = (underWay.get(socket) ?? 1) - 1;
      underWay.set(socket, others);
      if (others === 0) (authenticated.has(socket) ? idleAuthenticated : idle).add(socket);
    });
  });
}
