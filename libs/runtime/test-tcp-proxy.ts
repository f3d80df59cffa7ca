/** For the tests: a proxy to a port of this machine, on which a network's troubles can be made. */
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface TcpProxy {
  port: number;
  /** Ends it as when the machine behind it dies: no goodbye, no listener. */
  disconnect(): void;
  /** Nothing passes any more, though connections stand and new ones are taken. */
  pause(): void;
  /** What was held back passes, and all that comes. */
  resume(): void;
}

/** Opens a proxy to the port, for one test. */
export async function startTcpProxy(to: number, { port = 0 } = {}): Promise<TcpProxy> {
  const sockets = new Map<Socket, Socket>();
  let frozen = false;
  const proxy: Server = createServer((near) => {
    const far = dial(to, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.set(socket, other);
      if (!frozen) socket.pipe(other);
      // The other end goes the same way, with or without an error.
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
  const disconnect = () => {
    proxy.close();
    for (const socket of sockets.keys()) socket.resetAndDestroy();
  };
  onTestFinished(disconnect);
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    disconnect,
    pause() {
      frozen = true;
      for (const [socket, other] of sockets) socket.unpipe(other);
    },
    resume() {
      frozen = false;
      for (const [socket, other] of sockets) socket.pipe(other);
    },
  };
}
