import { describe, expect, test } from 'vitest';
import { AdaptiveLimit } from './adaptive-limit.ts';

/** The limit after that many requests have succeeded. */
function limitAfterSuccesses(count: number): AdaptiveLimit {
  const limit = new AdaptiveLimit(64);
  for (let n = 0; n < count; n += 1) limit.succeeded(false);
  return limit;
}

describe('the adaptive limit of a destination', () => {
  test('grows by one with every success, up to its maximum', () => {
    const limit = new AdaptiveLimit(5);
    const limits = Array.from({ length: 5 }, () => {
      limit.succeeded(false);
      return limit.requests;
    });
    expect(limits).toEqual([3, 4, 5, 5, 5]);
  });

  test('shrinks to one request with failures, and the breaker opens after five in a row', () => {
    const limit = limitAfterSuccesses(18);
    const failures = Array.from({ length: 5 }, () => [limit.failed(false), limit.requests]);
    expect(failures).toEqual([
      [false, 10],
      [false, 5],
      [false, 2],
      [false, 1],
      [true, 1],
    ]);
  });

  test('when a success is among the failures, the breaker stays closed', () => {
    const limit = limitAfterSuccesses(0);
    for (let n = 0; n < 4; n += 1) limit.failed(false);
    limit.succeeded(false);
    expect(limit.failed(false)).toBe(false);
  });

  test.each([1, 2, 3])('of at most %i requests is proven by a success, until a failure', (max) => {
    const limit = new AdaptiveLimit(max);
    expect(limit.isProven).toBe(false);
    limit.succeeded(false);
    expect(limit.isProven).toBe(true);
    limit.failed(false);
    expect(limit.isProven).toBe(false);
  });

  test.each([
    [0, true, true],
    [0, false, false],
    [2, true, false],
  ])(
    'when after %i successes a request fails, slow: %s, the breaker opens: %s',
    (count, wasSlow, opens) => {
      expect(limitAfterSuccesses(count).failed(wasSlow)).toBe(opens);
    },
  );
});
