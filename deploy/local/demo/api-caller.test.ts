import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ApiCaller } from './api-caller.ts';

/** Answers each request with the next status, and the last one to all further requests. */
async function startServer(...statuses: number[]) {
  const requests: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    requests.push(req);
    const status = statuses.length > 1 ? statuses.shift() : statuses[0];
    res.writeHead(status ?? 500, { 'retry-after': '0' }).end('{"status":"of the last answer"}');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const caller = new ApiCaller(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'key');
  return { caller, requests };
}

test('a request that is answered with 503 is repeated with the same idempotency key', async () => {
  const { caller, requests } = await startServer(503, 503, 201);
  expect(await caller.post('/applications', {})).toEqual({ status: 'of the last answer' });
  const keys = new Set(requests.map(({ headers }) => headers['idempotency-key']));
  expect([requests.length, keys.size]).toEqual([3, 1]);
});

test('the fifth 503, and any other refusal, is an error that quotes it', async () => {
  const unavailable = await startServer(503);
  await expect(unavailable.caller.put('/keys')).rejects.toThrow('PUT /keys answered 503: {"status');
  expect(unavailable.requests).toHaveLength(5);
  const refused = await startServer(409);
  await expect(refused.caller.put('/keys')).rejects.toThrow('PUT /keys answered 409');
  expect(refused.requests).toHaveLength(1);
});
