import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs } from './backoff.ts';

const BOUNDS = { baseMs: 100, capMs: 5_000 };

test('the ceiling doubles with each attempt until the cap', () => {
  const almostOne = () => 1 - Number.EPSILON;
  const ceilings = [1, 2, 3, 6, 7, 5_000].map((attempt) => backoffMs(attempt, BOUNDS, almostOne));
  expect(ceilings).toEqual([99, 199, 399, 3_199, 4_999, 4_999]);
});

test('the wait can be anywhere from 0 to below the ceiling', () => {
  expect(backoffMs(3, BOUNDS, () => 0)).toBe(0);
  expect(backoffMs(3, BOUNDS, () => 0.5)).toBe(200);
});

test('the wait of any attempt stays within the bounds', () => {
  fc.assert(
    fc.property(fc.nat(), (attempt) => {
      const waitMs = backoffMs(attempt, BOUNDS);
      expect(waitMs).toBeGreaterThanOrEqual(0);
      expect(waitMs).toBeLessThan(BOUNDS.capMs);
    }),
  );
});
