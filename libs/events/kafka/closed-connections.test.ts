// A broker that is away: what the patch of kafkajs changes for its connections.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { silentLog } from '@creditlane/runtime/test-log';
import type { ISocketFactoryArgs } from 'kafkajs';
import { expect, onTestFinished, test } from 'vitest';

const Connection = createRequire(import.meta.url)('kafkajs/src/network/connection.js') as new (
  options: object,
) => { connect(): Promise<unknown>; disconnect(): Promise<unknown> };

test('a closed connection gets no further listener when it is disconnected again and again', async () => {
  const server = createServer((socket) => socket.resume().end()).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const sockets: Socket[] = [];
  const connection = new Connection({
    ...{ host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    ...{ requestTimeout: 10_000, connectionTimeout: 10_000 },
    logger: { namespace: () => silentLog },
    socketFactory: ({ host, port, onConnect }: ISocketFactoryArgs) => {
      const socket = connect({ host, port }, onConnect);
      sockets.push(socket);
      return socket;
    },
  });
  await connection.connect();
  const [socket] = sockets;
  await expect.poll(() => socket?.destroyed).toBe(true);
  // kafkajs does so with each failed attempt at another connection to the broker.
  for (let n = 0; n <= 10; n += 1) await connection.disconnect();
  expect(socket?.listenerCount('connect')).toBe(0);
});
