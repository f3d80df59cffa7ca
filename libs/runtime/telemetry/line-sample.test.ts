import { expect, test } from 'vitest';
import { LineSample } from './line-sample.ts';

test('the first five lines of a second with a code are logged, and the next second says how many were not', () => {
  let nowMs = 0;
  const lines = new LineSample(() => nowMs);
  const record = (code: string, count: number) =>
    Array.from({ length: count }, () => lines.take(code));
  expect(record('key_rejected', 20).filter(({ isLogged }) => isLogged)).toHaveLength(5);
  // Another code has lines of its own.
  expect(record('rate_limited', 1)).toEqual([{ isLogged: true, unlogged: 0 }]);
  nowMs += 1_000;
  expect(record('key_rejected', 2)).toEqual([
    { isLogged: true, unlogged: 15 },
    { isLogged: true, unlogged: 0 },
  ]);
});
