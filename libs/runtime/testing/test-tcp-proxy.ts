/** For the tests: a TCP proxy in front of a local port, which simulates network failures. */
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface TcpProxy {
  port: number;
  /** Resets all connections and stops listening, as when the machine behind the port dies. */
  disconnect(): void;
  /** Holds all data back. Connections stay open and new connections are accepted. */
  pause(): void;
  /** Forwards the held data and all further data. */
  resume(): void;
}

/** Starts a proxy of `targetPort` that disconnects when the test ends. */
export async function startTcpProxy(targetPort: number, { port = 0 } = {}): Promise<TcpProxy> {
  const peers = new Map<Socket, Socket>();
  let paused = false;
  const server: Server = createServer((near) => {
    const far = dial(targetPort, '127.0.0.1');
    for (const [socket, peer] of [
      [near, far],
      [far, near],
    ] as const) {
      peers.set(socket, peer);
      if (!paused) socket.pipe(peer);
      // The `close` event that follows closes the peer too, so the error itself needs no handling.
      socket.on('error', () => {});
      socket.once('close', () => {
        peers.delete(socket);
        peer.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const disconnect = () => {
    server.close();
    for (const socket of peers.keys()) socket.resetAndDestroy();
  };
  onTestFinished(disconnect);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    disconnect,
    pause() {
      paused = true;
      for (const [socket, peer] of peers) socket.unpipe(peer);
    },
    resume() {
      paused = false;
      for (const [socket, peer] of peers) socket.pipe(peer);
    },
  };
}
