// What the callers of a fault run note of requests that fail.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Demo } from '@creditlane/local/demo/demo';
import { seededRandom } from '@creditlane/runtime/test-seeded-random';
import { expect, onTestFinished, test } from 'vitest';
import { ApiClient } from '../platform/api-client.ts';
import type { History } from './history/history.ts';
import { runWriteLoad } from './write-load.ts';

test('a read that fails is in the history, with the reason', async () => {
  const server = createServer((request) => request.socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const api = () => new ApiClient({ baseUrl, keys: { integration: 'key' } } as Demo);
  const writer = { api, creditorId: 'c', random: seededRandom(1), requestTimeoutMs: 30_000 };
  const history: Pick<History, 'writes' | 'reads' | 'failedReads'> = {
    writes: [],
    reads: [],
    failedReads: [],
  };
  const stop = new AbortController();
  const rate = { perSecond: 100, loadMs: 0, giveUpAfterMs: 30_000, maxPauseMs: 300 };
  const load = { ...rate, stop: stop.signal, applications: ['a'] };
  const running = runWriteLoad(writer, { ...load, withoutKeys: true }, history);
  await expect.poll(() => history.failedReads.length).toBeGreaterThan(0);
  stop.abort();
  await running;
  expect(history.reads).toEqual([]);
  for (const { submission, reason } of history.failedReads) {
    expect(submission).toBe('a');
    expect(reason).toContain('no answer: ');
  }
});
