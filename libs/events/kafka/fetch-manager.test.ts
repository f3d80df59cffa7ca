// A consumer that stops while the brokers change: what the patch of kafkajs changes for its fetches.
import { createRequire } from 'node:module';
import { silentLog } from '@creditlane/runtime/test-log';
import { expect, test } from 'vitest';

interface FetchManager {
  start(): Promise<void>;
  stop(): Promise<void>;
}

const createFetchManager = createRequire(import.meta.url)(
  'kafkajs/src/consumer/fetchManager.js',
) as (options: object) => FetchManager;

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
