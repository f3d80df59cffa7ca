import { expect, test } from 'vitest';
import { Batcher } from './batcher.ts';

/** A batcher whose rounds end when the test resolves them. */
function createBatcher(options: { maxConcurrent: number; maxItems: number }) {
  const rounds: { items: number[]; end: (error?: Error) => void }[] = [];
  const batcher = new Batcher<number, string>((items) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    const end = (error?: Error) => {
      if (error) reject(error);
      else resolve(items.map((item) => `did ${item}`));
    };
    rounds.push({ items, end });
    return promise;
  }, options);
  return { batcher, rounds, started: () => rounds.map(({ items }) => items) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('items of one turn of the event loop share a round, and each gets its own result', async () => {
  const { batcher, rounds, started } = createBatcher({ maxConcurrent: 1, maxItems: 10 });
  const results = Promise.all([1, 2, 3].map((item) => batcher.add(item)));
  await turn();
  expect(started()).toEqual([[1, 2, 3]]);
  rounds[0]?.end();
  expect(await results).toEqual(['did 1', 'did 2', 'did 3']);
});

test('items that arrive while all rounds run share the next round', async () => {
  const { batcher, rounds, started } = createBatcher({ maxConcurrent: 2, maxItems: 10 });
  void batcher.add(1);
  await turn();
  void batcher.add(2);
  await turn();
  expect(started()).toEqual([[1], [2]]);
  void batcher.add(3);
  void batcher.add(4);
  await turn();
  expect(started()).toHaveLength(2);
  rounds[1]?.end();
  await expect.poll(started).toEqual([[1], [2], [3, 4]]);
});

test('a round has at most maxItems items', async () => {
  const { batcher, rounds, started } = createBatcher({ maxConcurrent: 1, maxItems: 2 });
  for (const item of [1, 2, 3, 4, 5]) void batcher.add(item);
  await turn();
  for (const n of [0, 1]) {
    rounds[n]?.end();
    await expect.poll(() => rounds.length).toBe(n + 2);
  }
  expect(started()).toEqual([[1, 2], [3, 4], [5]]);
});

test('a failed round rejects its own items only', async () => {
  const { batcher, rounds } = createBatcher({ maxConcurrent: 1, maxItems: 2 });
  const results = Promise.allSettled([1, 2, 3].map((item) => batcher.add(item)));
  await turn();
  rounds[0]?.end(new Error('no luck'));
  await expect.poll(() => rounds.length).toBe(2);
  rounds[1]?.end();
  expect((await results).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
    'fulfilled',
  ]);
  const later = batcher.add(4);
  await turn();
  rounds[2]?.end();
  expect(await later).toBe('did 4');
});

test('an item that arrives as the last round ends gets a round of its own', async () => {
  const { batcher, rounds, started } = createBatcher({ maxConcurrent: 1, maxItems: 10 });
  const second = batcher.add(1).then(() => batcher.add(2));
  await turn();
  rounds[0]?.end();
  await expect.poll(started).toEqual([[1], [2]]);
  rounds[1]?.end();
  expect(await second).toBe('did 2');
});
