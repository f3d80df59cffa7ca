import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { expect, test } from 'vitest';
import { Refusals } from './refusals.ts';

test('the first five refusals of a second are logged, and the next second says how many were not', () => {
  let nowMs = 0;
  const refusals = new Refusals(new Metrics(), () => nowMs);
  const record = (code: string, count: number) =>
    Array.from({ length: count }, () => refusals.record(code));
  expect(record('key_rejected', 20).filter(({ isLogged }) => isLogged)).toHaveLength(5);
  // Another code has lines of its own.
  expect(record('rate_limited', 1)).toEqual([{ isLogged: true, unlogged: 0 }]);
  nowMs += 1_000;
  expect(record('key_rejected', 2)).toEqual([
    { isLogged: true, unlogged: 15 },
    { isLogged: true, unlogged: 0 },
  ]);
});
