import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { requestText } from '../test-socket.ts';
import { readJsonBody } from './json-body.ts';

const LIMITS = { maxBytes: 100, maxValues: 10, shape: undefined };

test('a body that is complete only after its request was refused is not read', async () => {
  const read = Promise.withResolvers<unknown>();
  const server = createServer((req, res) => {
    readJsonBody(req, res, LIMITS, () => {}).then(read.resolve, read.reject);
    req.socket.end('HTTP/1.1 408 Request Timeout\r\n\r\n');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void client.destroy());
  const head = ['Host: gateway', 'Content-Type: application/json', 'Content-Length: 2'];
  client.write(requestText('POST /', head, '{'));
  await once(client, 'data');
  client.write('}');
  await expect(read.promise).rejects.toMatchObject({ kind: 'cancelled' });
});
