import { expect, test } from 'vitest';
import { BatchQueue } from './batch-queue.ts';
import type { EventMessage } from './message.ts';

const message = (key: string): EventMessage => ({
  topic: 'creditlane.decisions.v1',
  key,
  headers: {},
  value: Buffer.from(key),
});

test('messages that are withdrawn while a batch is handled are not handled', async () => {
  const queue = new BatchQueue('test');
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const handled: string[] = [];
  queue.subscribe({
    group: 'test',
    topics: ['creditlane.decisions.v1'],
    handle: async (batch) => {
      handled.push(...batch.map(({ key }) => key));
      started.resolve();
      await release.promise;
    },
  });
  const first = queue.deliver([message('a')]);
  await started.promise;
  const withdrawing = new AbortController();
  const withdrawn = queue.deliver([message('b')], withdrawing.signal);
  const last = queue.deliver([message('c')]);
  expect(queue.lag).toBe(3);
  withdrawing.abort(new Error('another member has the partition'));
  await expect(withdrawn).rejects.toThrow('another member has the partition');
  release.resolve();
  await Promise.all([first, last]);
  expect(handled).toEqual(['a', 'c']);
});
