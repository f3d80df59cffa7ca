/** Cuts the connections of clients that do not read their answers, which stay in memory until they are read. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * How often a connection is looked at within the time that its client has. The checks are counted, not the time: while the
 * process is held up, it hands the system nothing to send, and its timer fires only once afterwards.
 */
const CHECKS = 5;

interface Unsent {
  /** Bytes of the write under way that the system has not taken. */
  queued: number;
  written: number;
  /** Checks in a row in which the system had taken nothing. */
  unchanged: number;
}

/**
 * Destroys each connection that has bytes to send of which the system took none in CHECKS checks in a row, and calls
 * `onCut`: after `unreadMs`, up to a fifth longer, and later when the process was held up. A client that reads slowly makes
 * progress and is not cut.
 *
 * `socket.setTimeout` looks at the same queue, but each byte that the client sends starts its time anew.
 */
export function cutUnreadAnswers(server: Server, unreadMs: number, onCut: () => void): void {
  const connections = new Map<Socket, Unsent | undefined>();
  server.on('connection', (socket: Socket) => {
    connections.set(socket, undefined);
    socket.once('close', () => connections.delete(socket));
  });
  const check = () => {
    for (const [socket, before] of connections) {
      const now = unsentOf(socket);
      if (now === undefined || before === undefined || !isSame(now, before)) {
        if (now !== before) connections.set(socket, now);
        continue;
      }
      before.unchanged += 1;
      if (before.unchanged < CHECKS) continue;
      onCut();
      socket.destroy();
    }
  };
  const checking = setInterval(check, unreadMs / CHECKS).unref();
  server.once('close', () => clearInterval(checking));
}

function unsentOf(socket: Socket): Unsent | undefined {
  if (socket.writableLength === 0 || socket.destroyed) return undefined;
  // `bytesWritten` counts a write in full when it begins, and an answer of megabytes is one write.
  const { _handle: handle } = socket as Socket & { _handle?: { writeQueueSize: number } | null };
  return { queued: handle?.writeQueueSize ?? 0, written: socket.bytesWritten, unchanged: 0 };
}

function isSame(one: Unsent, other: Unsent): boolean {
  return one.queued === other.queued && one.written === other.written;
}
