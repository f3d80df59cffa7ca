import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WakeSignal } from './wake-signal.ts';

const HOUR_MS = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('a signal wakes all waiters', async () => {
  const wake = new WakeSignal();
  const waits = [wake.wait(HOUR_MS), wake.wait(HOUR_MS)];
  wake.signal();
  await Promise.all(waits);
  expect(vi.getTimerCount()).toBe(0);
});

test('a wait without a time limit ends with a signal, and sets no timer', async () => {
  const wake = new WakeSignal();
  const wait = wake.wait(Infinity);
  expect(vi.getTimerCount()).toBe(0);
  wake.signal();
  await wait;
});

test('signals without a waiter are kept as one', async () => {
  const wake = new WakeSignal();
  wake.signal();
  wake.signal();
  await wake.wait(HOUR_MS);

  let woken = false;
  const second = wake.wait(HOUR_MS).then(() => {
    woken = true;
  });
  await vi.advanceTimersByTimeAsync(HOUR_MS - 1);
  expect(woken).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await second;
});

test('a signal that woke a waiter is not kept', async () => {
  const wake = new WakeSignal();
  const first = wake.wait(HOUR_MS);
  wake.signal();
  await first;
  void wake.wait(HOUR_MS);
  expect(vi.getTimerCount()).toBe(1);
  wake.signal();
});

test('an abort ends the wait, and later waits return at once', async () => {
  const wake = new WakeSignal();
  const controller = new AbortController();
  const wait = wake.wait(HOUR_MS, controller.signal);
  controller.abort();
  await wait;
  await wake.wait(HOUR_MS, controller.signal);
  expect(vi.getTimerCount()).toBe(0);
});
