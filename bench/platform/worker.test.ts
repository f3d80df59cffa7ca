import { expect, test } from 'vitest';
import type { LoadWorker } from '../load/load-worker.ts';
import { startWorker } from './worker.ts';

test('calls of a worker that has ended are rejected', async () => {
  const worker = startWorker<LoadWorker>('load/load-worker.ts');
  await worker.close();
  for (let call = 0; call < 2; call += 1) {
    await expect(worker.call('startReceiver', undefined)).rejects.toThrow('Channel closed');
  }
});
