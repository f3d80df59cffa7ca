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

test('a task that begins with a pause runs for the first time after it', async () => {
  const work = vi.fn(async () => undefined);
  const task = startPeriodicTask(1_000, work, { pauseFirst: true });
  await vi.advanceTimersByTimeAsync(999);
  expect(work).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(work).toHaveBeenCalledTimes(1);
  await task.close();
});

test('a run that resolves to a number is followed by the next one after so many milliseconds', async () => {
  const work = vi.fn<() => Promise<number | undefined>>(async () => undefined);
  work.mockResolvedValueOnce(200).mockResolvedValueOnce(5_000);
  const task = startPeriodicTask(1_000, work);
  const runsAtMs = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms - performance.now());
    return work.mock.calls.length;
  };
  const startMs = performance.now();
  expect(await runsAtMs(startMs + 199)).toBe(1);
  expect(await runsAtMs(startMs + 200)).toBe(2);
  expect(await runsAtMs(startMs + 5_199)).toBe(2);
  expect(await runsAtMs(startMs + 5_200)).toBe(3);
  expect(await runsAtMs(startMs + 6_200)).toBe(4);
  await task.close();
});

test('a run that resolves to 0 is followed by the next one without a timer', async () => {
  const third = Promise.withResolvers<void>();
  const work = vi.fn(async () => {
    if (work.mock.calls.length < 3) return 0;
    third.resolve();
    return undefined;
  });
  const task = startPeriodicTask(1_000, work);
  // The timers of this test stand still.
  await third.promise;
  await task.close();
  expect(work).toHaveBeenCalledTimes(3);
});

test.each([
  { pause: 'the first pause', pauseFirst: true },
  { pause: 'a later pause', pauseFirst: false },
])('a wake-up ends $pause', async ({ pauseFirst }) => {
  const work = vi.fn(async () => undefined);
  const task = startPeriodicTask(1_000, work, { pauseFirst });
  await vi.advanceTimersByTimeAsync(0);
  const runs = work.mock.calls.length;
  task.wake();
  await vi.advanceTimersByTimeAsync(0);
  expect(work).toHaveBeenCalledTimes(runs + 1);
  // The next pause begins with the end of this run.
  await vi.advanceTimersByTimeAsync(999);
  expect(work).toHaveBeenCalledTimes(runs + 1);
  await vi.advanceTimersByTimeAsync(1);
  expect(work).toHaveBeenCalledTimes(runs + 2);
  await task.close();
});

test('a run during which the task was woken is followed by one more at once', async () => {
  const round = Promise.withResolvers<void>();
  const work = vi.fn(() => round.promise);
  const task = startPeriodicTask(1_000, work);
  task.wake();
  task.wake();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(work).toHaveBeenCalledTimes(1);
  round.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(work).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(999);
  expect(work).toHaveBeenCalledTimes(2);
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

test('a task that was woken during its last run does not run again after close', async () => {
  const round = Promise.withResolvers<number>();
  const work = vi.fn(() => round.promise);
  const task = startPeriodicTask(1_000, work);
  task.wake();
  const closing = task.close();
  round.resolve(0);
  await closing;
  expect(work).toHaveBeenCalledTimes(1);
});
