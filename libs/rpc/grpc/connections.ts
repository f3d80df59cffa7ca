/** The connections of a gRPC server, which grpc-js itself accepts in any number and for any time. */
import { createServer, type Socket } from 'node:net';
import { type Address, listen } from '@creditlane/runtime/listen';

/** The client's preface and the header of its first SETTINGS frame (RFC 9113, 3.4), which it sends at once. */
const PREFACE_BYTES = 24 + 9;

export interface ConnectionLimits extends Address {
  /** How long a client may take to begin HTTP/2, or to begin TLS. */
  prefaceMs: number;
  maxConnections: number;
}

export interface Connections {
  port: number;
  /** Marks a connection as one with an admitted call. `peer` is its remote address and port. */
  admit(peer: string): void;
  /** Stops listening, and resolves when every connection has ended. */
  close(): Promise<void>;
  /** Cuts the connections that are open. */
  cut(): void;
}

/**
 * Listens, and passes each connection to `serve`. Above `maxConnections`, the oldest connection without an
 * admitted call is closed in favour of a new one; when there is none, the new one is closed. Rejects with the
 * system's error when it cannot listen.
 */
export async function acceptConnections(
  { host, port, prefaceMs, maxConnections }: ConnectionLimits,
  serve: (socket: Socket) => void,
): Promise<Connections> {
  const open = new Map<string, Socket>();
  /** In the order of their beginning. */
  const withoutCall = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    if (open.size >= maxConnections) {
      const [oldest] = withoutCall;
      (oldest ?? socket).destroy();
      if (oldest === undefined) return;
      withoutCall.delete(oldest);
    }
    const peer = peerOf(socket);
    open.set(peer, socket);
    withoutCall.add(socket);
    const timer = setTimeout(() => {
      if (socket.bytesRead < PREFACE_BYTES) socket.destroy();
    }, prefaceMs).unref();
    socket.once('close', () => {
      clearTimeout(timer);
      open.delete(peer);
      withoutCall.delete(socket);
    });
    serve(socket);
  });
  const listening = await listen(server, { host, port });
  return {
    port: listening.port,
    admit(peer) {
      const socket = open.get(peer);
      if (socket !== undefined) withoutCall.delete(socket);
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
    cut() {
      for (const socket of open.values()) socket.destroy();
    },
  };
}

/** As `getPeer` of grpc-js gives it. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}
