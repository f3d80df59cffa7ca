import { expect, test, vi } from 'vitest';
import { LockTimeoutError } from './error-classes.ts';
import { whenUnlocked } from './lock-wait.ts';

const lockedOnce = () =>
  vi.fn(async () => 'done').mockImplementationOnce(() => Promise.reject(new LockTimeoutError()));

test('work that finds its table locked is tried again after a pause, which the caller learns of', async () => {
  const [work, onWait] = [lockedOnce(), vi.fn()];
  expect(await whenUnlocked(work, { onWait })).toBe('done');
  expect([work, onWait].map(({ mock }) => mock.calls.length)).toEqual([2, 1]);
});

test('work that has no time for another try fails with the lock timeout', async () => {
  const work = lockedOnce();
  await expect(whenUnlocked(work, { withinMs: 50 })).rejects.toThrow(LockTimeoutError);
});

test('work that fails for another reason is not tried again', async () => {
  const work = vi.fn(() => Promise.reject(new Error('refused')));
  await expect(whenUnlocked(work)).rejects.toThrow('refused');
  expect(work).toHaveBeenCalledTimes(1);
});
