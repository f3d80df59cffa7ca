/** Handles the requests that a client pipelines on one connection one after the other. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type Handle = (req: IncomingMessage, res: ServerResponse) => void;

/** Requests that wait on one connection. Clients that pipeline at all send about ten; a head may have 100 bytes. */
const MAX_WAITING = 64;

/**
 * `handle`, called for a request when the answers to the earlier requests of its connection are sent. Node
 * alone emits all requests of a connection at once, so one connection could have hundreds under way.
 *
 * No further request of the connection is read while some wait. `onCut` is called when one read brings more
 * than may wait, and the connection is cut: what waits has been parsed, and Node cannot stop parsing.
 */
export function handleInTurn(handle: Handle, onCut: () => void): Handle {
  const waiting = new WeakMap<Socket, number>();
  return (req, res) => {
    // Node gives a response its socket when it is the response's turn, and emits `socket`.
    if (res.socket !== null) {
      handle(req, res);
      return;
    }
    const { socket } = req;
    if (socket.destroyed) return;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_WAITING) {
      onCut();
      socket.destroy();
      return;
    }
    waiting.set(socket, count);
    socket.pause();
    res.once('socket', () => {
      const others = (waiting.get(socket) ?? 1) - 1;
      waiting.set(socket, others);
      if (others === 0) socket.resume();
      handle(req, res);
    });
  };
}
