import { describe, expect, it } from 'vitest';
import { AdaptiveLimit } from './adaptive-limit.ts';

const LATER_MS = 60_000;

function limitAfterFailures(count: number): AdaptiveLimit {
  const limit = new AdaptiveLimit(64, () => 0.5);
  for (let n = 0; n < count; n += 1) limit.failed(0);
  return limit;
}

describe('the adaptive limit of a destination', () => {
  it('grows by one with every success, up to its maximum', () => {
    const limit = new AdaptiveLimit(5);
    const limits = Array.from({ length: 5 }, () => {
      limit.succeeded();
      return limit.limit(0);
    });
    expect(limits).toEqual([3, 4, 5, 5, 5]);
  });

  it('shrinks to one request with failures, while the breaker is closed', () => {
    expect(limitAfterFailures(4).limit(0)).toBe(1);
    expect(limitAfterFailures(4).state(0)).toBe('closed');
  });

  it('after five failures in a row the breaker opens, and lets one request through later', () => {
    const limit = limitAfterFailures(5);
    expect([limit.limit(0), limit.state(0)]).toEqual([0, 'open']);
    expect([limit.limit(LATER_MS), limit.state(LATER_MS)]).toEqual([1, 'half_open']);
  });

  it('when the request in the half-open state fails, the breaker opens again for seconds at most', () => {
    const limit = limitAfterFailures(50);
    limit.failed(LATER_MS);
    expect(limit.state(LATER_MS)).toBe('open');
    expect(limit.state(LATER_MS + 5_250)).toBe('half_open');
  });

  it('when the request in the half-open state succeeds, the breaker closes', () => {
    const limit = limitAfterFailures(9);
    limit.succeeded();
    expect([limit.limit(0), limit.state(0)]).toEqual([2, 'closed']);
  });
});
