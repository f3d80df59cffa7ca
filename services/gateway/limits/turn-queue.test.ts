import { expect, test } from 'vitest';
import { TurnQueue } from './turn-queue.ts';

test('two run at a time, the others wait in order, and one too many is refused', async () => {
  const queue = new TurnQueue({ maxRunning: 2, maxWaiting: 3, full: 'full' });
  const started: { id: number; end: PromiseWithResolvers<void> }[] = [];
  const run = (id: number) =>
    queue.run(() => {
      const end = Promise.withResolvers<void>();
      started.push({ id, end });
      return end.promise;
    });
  const all = [1, 2, 3, 4, 5].map(run);
  const ids = () => started.map(({ id }) => id);
  expect(ids()).toEqual([1, 2]);
  await expect(run(6)).rejects.toMatchObject({ code: 'overloaded' });
  started[1]?.end.reject(new Error('failed'));
  await expect(all[1]).rejects.toThrow('failed');
  await expect.poll(ids).toEqual([1, 2, 3]);
  for (const id of [1, 3, 4, 5]) {
    await expect.poll(ids).toContain(id);
    started.find((one) => one.id === id)?.end.resolve();
  }
  await Promise.all(all.toSpliced(1, 1));
  expect(ids()).toEqual([1, 2, 3, 4, 5]);
  expect(queue.isIdle).toBe(true);
});
