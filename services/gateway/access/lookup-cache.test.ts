import { expect, test } from 'vitest';
import { cachedLookup } from './lookup-cache.ts';

/** A cache of 1,000 ms whose calls end when the test says so, and whose clock the test moves. */
function openCache(ttlMs = 1_000) {
  const clock = { nowMs: 100, now: () => clock.nowMs };
  const calls: PromiseWithResolvers<{ answer: string }>[] = [];
  const lookUp = () => {
    const call = Promise.withResolvers<{ answer: string }>();
    calls.push(call);
    return call.promise;
  };
  const ownerOf = () => 'owner';
  const cache = cachedLookup(lookUp, { ttlMs, max: 10, ownerOf, clock });
  const find = async () => (await cache.find('key', {})).answer;
  return { find, invalidate: cache.invalidate, calls, clock };
}

test('concurrent lookups share one call, and a later lookup is answered from the cache', async () => {
  const { find, calls } = openCache();
  const together = Promise.all([find(), find()]);
  calls[0]?.resolve({ answer: 'first' });
  expect(await together).toEqual(['first', 'first']);
  expect(await find()).toBe('first');
  expect(calls).toHaveLength(1);
});

test('an answer expires by the time at which its call began, not by that of the answer', async () => {
  const { find, calls, clock } = openCache();
  for (const answer of ['first', 'second']) {
    const asked = find();
    clock.nowMs += 900;
    calls.at(-1)?.resolve({ answer });
    expect(await asked).toBe(answer);
    clock.nowMs += 99;
    expect(await find()).toBe(answer);
    clock.nowMs += 2;
  }
  expect(calls).toHaveLength(2);
});

test('an answer that takes longer than the time to live is not cached', async () => {
  const { find, calls, clock } = openCache();
  const asked = find();
  clock.nowMs += 1_001;
  calls[0]?.resolve({ answer: 'late' });
  expect(await asked).toBe('late');
  void find();
  expect(calls).toHaveLength(2);
});

test('a failure reaches all lookups that wait for the call, and is not cached', async () => {
  const { find, calls } = openCache();
  const asked = [find(), find()];
  calls[0]?.reject(new Error('away'));
  for (const one of asked) await expect(one).rejects.toThrow('away');
  void find();
  expect(calls).toHaveLength(2);
});

test('a time to live of 0 caches nothing', async () => {
  const { find, calls } = openCache(0);
  const asked = find();
  calls[0]?.resolve({ answer: 'first' });
  await asked;
  void find();
  expect(calls).toHaveLength(2);
});

test('answers kept apart evict no others, and their keys are not known', async () => {
  const clock = { nowMs: 100, now: () => clock.nowMs };
  const known: string[] = [];
  const { find } = cachedLookup(
    async (key: string, isKnown) => {
      if (isKnown) known.push(key);
      return { found: !key.startsWith('unknown') };
    },
    {
      ttlMs: 1_000,
      max: 2,
      ownerOf: (key) => key,
      apart: { includes: ({ found }) => !found, max: 2 },
      clock,
    },
  );
  const findAll = async (...keys: string[]) => {
    for (const key of keys) await find(key, key);
  };
  await findAll('a', 'b', 'unknown 1', 'unknown 2', 'unknown 3');
  expect(find('a', 'a')).toEqual({ found: true });
  expect(find('b', 'b')).toEqual({ found: true });
  expect(find('unknown 3', 'unknown 3')).toEqual({ found: false });
  expect(find('unknown 1', 'unknown 1')).toBeInstanceOf(Promise);
  clock.nowMs += 1_000;
  await findAll('a', 'b', 'unknown 3');
  expect(known).toEqual(['a', 'b']);
});

test('after an invalidation an answer about its owner is looked up again, and that of another is not', async () => {
  const { find, invalidate, calls } = openCache();
  const asked = find();
  calls[0]?.resolve({ answer: 'first' });
  await asked;
  invalidate('another');
  expect(await find()).toBe('first');
  invalidate('owner');
  const again = find();
  calls[1]?.resolve({ answer: 'second' });
  expect(await again).toBe('second');
  expect(await find()).toBe('second');
  expect(calls).toHaveLength(2);
});

test('a call that began before the invalidation of its owner answers no later lookup', async () => {
  const { find, invalidate, calls } = openCache();
  const before = find();
  invalidate('owner');
  const after = find();
  calls[1]?.resolve({ answer: 'after' });
  calls[0]?.resolve({ answer: 'before' });
  expect(await Promise.all([before, after])).toEqual(['before', 'after']);
  const last = find();
  calls[2]?.resolve({ answer: 'last' });
  expect(await last).toBe('last');
});
