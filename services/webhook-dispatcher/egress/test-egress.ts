/** For tests of the egress: one, and a receiver, each of which is closed when the test ends. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { Egress, type EgressOptions } from './egress.ts';

/** A time that no test reaches. */
export const NEVER_MS = 600_000;

export async function receiver(
  listener: RequestListener,
): Promise<{ server: Server; url: string }> {
  // By default Node closes a connection that is idle for five seconds; tests count the connections.
  const options = { maxHeaderSize: 64 * 1_024, keepAliveTimeout: NEVER_MS };
  const server = createServer(options, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A receiver that calls `answer` with each whole request of `post`; its connections are those it has had. */
export async function rawReceiver(
  answer: (socket: Socket) => void,
): Promise<{ url: string; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => {
      if (data.includes(post.body)) answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

export function egress(options: Partial<EgressOptions> = {}): Egress {
  const made = new Egress({
    allowHttp: true,
    allowLoopback: true,
    ports: [443],
    deadlineMs: NEVER_MS,
    connectionsPerDestination: 4,
    maxIdleConnections: 100,
    ...options,
  });
  onTestFinished(() => made.close());
  return made;
}

/** A request, but for the URL of its destination. */
export const post = {
  destinationId: 'a',
  path: '/application-booked',
  headers: { 'x-one': '1' },
  body: '{"é":1}',
};
