import { expect, test } from 'vitest';
import { RateLimiter } from './rate-limit.ts';

test('a bucket is used up, refills with time, and never holds more than its size', () => {
  let nowMs = 0;
  const limit = new RateLimiter({ requests: 10, windowMs: 1_000 }, () => nowMs);
  const admitted = () => {
    const { refuse } = limit.take('caller');
    try {
      refuse();
      return true;
    } catch {
      return false;
    }
  };
  const burst = () => Array.from({ length: 20 }, admitted).filter(Boolean).length;
  expect(burst()).toBe(10);
  expect(burst()).toBe(0);
  nowMs += 500;
  expect(burst()).toBe(5);
  nowMs += 60_000;
  expect(burst()).toBe(10);
});
