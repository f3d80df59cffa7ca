import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startPeriodicTask } from './periodic-task.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the task runs at once and again after each pause', async () => {
  const work = vi.fn(async () => undefined);
  const task = startPeriodicTask(1_000, work);
  await vi.advanceTimersByTimeAsync(0);
  expect(work).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(work).toHaveBeenCalledTimes(3);
  await task.close();
});

test('the first run waits for firstDelayMs', async () => {
  const work = vi.fn(async () => undefined);
  const task = startPeriodicTask(1_000, work, 500);
  await vi.advanceTimersByTimeAsync(499);
  expect(work).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(work).toHaveBeenCalledTimes(1);
  await task.close();
});

test('close waits for the present run and starts no other', async () => {
  const round = Promise.withResolvers<void>();
  const work = vi.fn((_stop: AbortSignal) => round.promise);
  const task = startPeriodicTask(1_000, work);
  const closed = vi.fn();
  const closing = task.close().then(closed);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(closed).not.toHaveBeenCalled();
  expect(work.mock.lastCall?.[0].aborted).toBe(true);
  round.resolve();
  await closing;
  expect(work).toHaveBeenCalledTimes(1);
});
