import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { describe, expect, test } from 'vitest';
import { SharedLimit } from './shared-limit.ts';

const openLimit = (max: number) =>
  new SharedLimit(new Metrics(), {
    max,
    gauge: 'taken',
    about: 'What is taken.',
    full: 'full',
    shareCode: 'share_used_up',
    share: 'share',
  });

/** Takes until the limit refuses. Returns how much was taken, and the code of the refusal. */
function takeAll(limit: SharedLimit, caller: string, amount = 1): { count: number; code: string } {
  for (let count = 0; ; count += 1) {
    try {
      limit.take(caller, amount);
    } catch (error) {
      return { count, code: (error as { code: string }).code };
    }
  }
}

describe('a caller that takes all it can get', () => {
  test('gets half when it is the only one, and the next ones half of what is left', () => {
    const limit = openLimit(100);
    expect(takeAll(limit, 'first')).toEqual({ count: 50, code: 'share_used_up' });
    expect(takeAll(limit, 'second')).toEqual({ count: 25, code: 'share_used_up' });
    expect(takeAll(limit, 'third').count).toBe(13);
    expect(limit.taken).toBe(88);
  });

  test('leaves enough for a caller that has nothing, and gets more when that one gives it back', () => {
    const limit = openLimit(10);
    for (const flooding of ['a', 'b', 'c']) takeAll(limit, flooding);
    limit.take('other', 1);
    limit.release('other', 1);
    limit.release('a', 1);
    expect(takeAll(limit, 'other')).toEqual({ count: 1, code: 'share_used_up' });
  });
});

test('an amount larger than what is left is refused to everyone', () => {
  const limit = openLimit(100);
  expect(takeAll(limit, 'caller', 101)).toEqual({ count: 0, code: 'overloaded' });
  limit.take('caller', 100);
  expect(takeAll(limit, 'other')).toEqual({ count: 0, code: 'overloaded' });
  limit.release('caller', 100);
  expect(limit.taken).toBe(0);
});
