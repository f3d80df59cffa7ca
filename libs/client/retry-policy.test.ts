import { describe, expect, test } from 'vitest';
import { retryWaitMs } from './retry-policy.ts';

describe('the wait before the next attempt', () => {
  test('doubles from 200 ms up to 10 s, of which up to half is left out', () => {
    const longest = [1, 2, 3, 6, 7, 50].map((attempt) => retryWaitMs(attempt, undefined, 0));
    expect(longest).toEqual([200, 400, 800, 6400, 10_000, 10_000]);
    expect(retryWaitMs(1, undefined, 1)).toBe(100);
  });

  test('is never shorter than Retry-After, and at most 20 % longer', () => {
    expect(retryWaitMs(1, 3000, 0)).toBe(3000);
    expect(retryWaitMs(1, 3000, 1)).toBe(3600);
  });

  test('is the increasing wait when Retry-After permits an attempt at once', () => {
    expect(retryWaitMs(3, 0, 0)).toBe(800);
  });
});
