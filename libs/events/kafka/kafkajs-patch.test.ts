// What the patch of kafkajs changes for the connections of a broker that is away, and for a consumer that stops.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { silentLog } from '@creditlane/runtime/test-log';
import type { ISocketFactoryArgs } from 'kafkajs';
import { expect, onTestFinished, test } from 'vitest';

const requireKafkajs = createRequire(import.meta.url);
const Connection = requireKafkajs('kafkajs/src/network/connection.js') as new (
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

interface FetchManager {
  start(): Promise<void>;
  stop(): Promise<void>;
}

const createFetchManager = requireKafkajs('kafkajs/src/consumer/fetchManager.js') as (
  options: object,
) => FetchManager;

const logger = { ...silentLog, namespace: () => logger };

test('a consumer that stops while it waits for its fetches, because the brokers have changed, fetches no more', async () => {
  const [fetchOfFirst, fetchOfSecond] = [Promise.withResolvers<[]>(), Promise.withResolvers<[]>()];
  let nodeIds = [1, 2];
  let fetches = 0;
  const manager = createFetchManager({
    logger,
    getNodeIds: () => nodeIds,
    fetch: async (nodeId: number) => {
      fetches += 1;
      // Otherwise the endless fetches of the fault would let no time limit end this test.
      if (fetches > 100) throw new Error('the consumer still fetches');
      if (fetches > 2) return [];
      return nodeId === 1 ? fetchOfFirst.promise : fetchOfSecond.promise;
    },
    handler: async () => undefined,
  });
  const started = manager.start();
  nodeIds = [1, 2, 3];
  // The next fetch of the first broker finds that there is another one, and then the fetch of the second is awaited.
  fetchOfFirst.resolve([]);
  await new Promise(setImmediate);
  const stopped = manager.stop();
  fetchOfSecond.resolve([]);
  await Promise.all([started, stopped]);
  expect(fetches).toBe(2);
});
