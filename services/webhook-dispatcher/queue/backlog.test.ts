import { expect, test } from 'vitest';
import { Backlog } from './backlog.ts';

test('the next time at which a delivery is due is remembered within a minute', () => {
  const backlog = new Backlog();
  backlog.expectDue(61_000);
  expect(backlog.nextDueInMs(performance.now())).toBe(Infinity);
  backlog.expectDue(40_000);
  backlog.expectDue(30_000);
  const nowMs = performance.now();
  expect(backlog.nextDueInMs(nowMs)).toBeLessThanOrEqual(30_100);
  expect(backlog.nextDueInMs(nowMs + 30_200)).toBe(0);
  backlog.forgetDue(nowMs + 30_200);
  expect(backlog.nextDueInMs(nowMs + 30_200)).toBeLessThanOrEqual(9_900);
  backlog.forgetDue(nowMs + 50_000);
  expect(backlog.nextDueInMs(nowMs + 50_000)).toBe(Infinity);
});
