import { expect, test } from 'vitest';
import { AdaptiveChunks } from './adaptive-chunks.ts';

const TOO_LARGE = new Error('too large');
const isTooLarge = (error: unknown) => error === TOO_LARGE;

/** Handles chunks of at most `limit` items, and records them. */
function handlerOf(limit: number) {
  const handled: number[][] = [];
  const handle = async (chunk: readonly number[]) => {
    if (chunk.length > limit) throw TOO_LARGE;
    handled.push([...chunk]);
  };
  return { handled, handle };
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

test('all items are one chunk when it is not too large, up to the maximum', async () => {
  const { handled, handle } = handlerOf(100);
  await new AdaptiveChunks().run(upTo(5), handle, isTooLarge);
  await new AdaptiveChunks(3).run(upTo(5), handle, isTooLarge);
  await new AdaptiveChunks().run([], handle, isTooLarge);
  expect(handled).toEqual([upTo(5), [1, 2, 3], [4, 5]]);
});

test('a chunk that is too large is handled in halves, in order, and later ones begin smaller', async () => {
  const { handled, handle } = handlerOf(3);
  const chunks = new AdaptiveChunks();
  await chunks.run(upTo(8), handle, isTooLarge);
  expect(handled.flat()).toEqual(upTo(8));
  expect(handled[0]).toEqual([1, 2]);
  const tried: number[] = [];
  await chunks.run(upTo(100), async (chunk) => void tried.push(chunk.length), isTooLarge);
  expect(tried[0]).toBeLessThan(8);
  expect(tried.at(-2)).toBeGreaterThan(8);
});

test('the error of a single item, and any that is not about size, rejects after the items before', async () => {
  const handled: number[] = [];
  const failOn = (item: number, error: Error) => async (chunk: readonly number[]) => {
    if (chunk.includes(item)) throw error;
    handled.push(...chunk);
  };
  const chunks = new AdaptiveChunks();
  await expect(chunks.run(upTo(4), failOn(3, TOO_LARGE), isTooLarge)).rejects.toBe(TOO_LARGE);
  expect(handled).toEqual([1, 2]);
  const away = new Error('away');
  await expect(new AdaptiveChunks().run(upTo(4), failOn(3, away), isTooLarge)).rejects.toBe(away);
  expect(handled).toEqual([1, 2]);
});
