import { expect, test } from 'vitest';
import { Batcher } from './batcher.ts';

/** Rounds that end when the test says so. */
function startGathering(options: { maxConcurrent: number; maxItems: number }) {
  const rounds: { items: number[]; end: (error?: Error) => void }[] = [];
  const gathering = new Batcher<number, string>((items) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    const end = (error?: Error) => {
      if (error) reject(error);
      else resolve(items.map((item) => `did ${item}`));
    };
    rounds.push({ items, end });
    return promise;
  }, options);
  return { gathering, rounds, begun: () => rounds.map(({ items }) => items) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what comes in one turn of the event loop goes together, each to its own result', async () => {
  const { gathering, rounds, begun } = startGathering({ maxConcurrent: 1, maxItems: 10 });
  const results = Promise.all([1, 2, 3].map((item) => gathering.add(item)));
  await turn();
  expect(begun()).toEqual([[1, 2, 3]]);
  rounds[0]?.end();
  expect(await results).toEqual(['did 1', 'did 2', 'did 3']);
});

test('what comes meanwhile waits for a round to end, and for nothing more', async () => {
  const { gathering, rounds, begun } = startGathering({ maxConcurrent: 2, maxItems: 10 });
  void gathering.add(1);
  await turn();
  void gathering.add(2);
  await turn();
  expect(begun()).toEqual([[1], [2]]);
  void gathering.add(3);
  void gathering.add(4);
  await turn();
  expect(begun()).toHaveLength(2);
  rounds[1]?.end();
  await expect.poll(begun).toEqual([[1], [2], [3, 4]]);
});

test('a round takes no more than it may', async () => {
  const { gathering, rounds, begun } = startGathering({ maxConcurrent: 1, maxItems: 2 });
  for (const item of [1, 2, 3, 4, 5]) void gathering.add(item);
  await turn();
  for (const n of [0, 1]) {
    rounds[n]?.end();
    await expect.poll(() => rounds.length).toBe(n + 2);
  }
  expect(begun()).toEqual([[1, 2], [3, 4], [5]]);
});

test('a round that fails fails its own items alone', async () => {
  const { gathering, rounds } = startGathering({ maxConcurrent: 1, maxItems: 2 });
  const results = Promise.allSettled([1, 2, 3].map((item) => gathering.add(item)));
  await turn();
  rounds[0]?.end(new Error('no luck'));
  await expect.poll(() => rounds.length).toBe(2);
  rounds[1]?.end();
  expect((await results).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
    'fulfilled',
  ]);
  const later = gathering.add(4);
  await turn();
  rounds[2]?.end();
  expect(await later).toBe('did 4');
});

test('what comes in the very moment in which the last round ends begins one of its own', async () => {
  const { gathering, rounds, begun } = startGathering({ maxConcurrent: 1, maxItems: 10 });
  const second = gathering.add(1).then(() => gathering.add(2));
  await turn();
  rounds[0]?.end();
  await expect.poll(begun).toEqual([[1], [2]]);
  rounds[1]?.end();
  expect(await second).toBe('did 2');
});
