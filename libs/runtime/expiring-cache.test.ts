import { expect, it, onTestFinished, vi } from 'vitest';
import { createExpiringCache } from './expiring-cache.ts';

it('an entry of an expiring cache ends after its time, and lookups set no timers', () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  let nowMs = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  onTestFinished(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  const cache = createExpiringCache<string>(10, 60_000);
  cache.set('key', 'value');
  nowMs += 60_000;
  expect(cache.get('key')).toBe('value');
  expect(vi.getTimerCount()).toBe(0);
  nowMs += 1;
  expect(cache.get('key')).toBeUndefined();
});
