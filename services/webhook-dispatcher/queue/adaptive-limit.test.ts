import { describe, expect, it } from 'vitest';
import { Allowance } from './adaptive-limit.ts';

const LATER_MS = 60_000;

function afterFailures(count: number): Allowance {
  const allowance = new Allowance(64, () => 0.5);
  for (let n = 0; n < count; n += 1) allowance.failed(0);
  return allowance;
}

describe('a destination’s allowance', () => {
  it('grows with every success up to its cap', () => {
    const allowance = new Allowance(5);
    const limits = Array.from({ length: 5 }, () => {
      allowance.succeeded();
      return allowance.limit(0);
    });
    expect(limits).toEqual([3, 4, 5, 5, 5]);
  });

  it('shrinks to one request when it fails', () => {
    expect(afterFailures(4).limit(0)).toBe(1);
    expect(afterFailures(4).state(0)).toBe('closed');
  });

  it('is closed off after five failures in a row, and tried again with one request', () => {
    const allowance = afterFailures(5);
    expect([allowance.limit(0), allowance.state(0)]).toEqual([0, 'open']);
    expect([allowance.limit(LATER_MS), allowance.state(LATER_MS)]).toEqual([1, 'half_open']);
  });

  it('is closed off again, and for seconds at most, when the trial fails', () => {
    const allowance = afterFailures(50);
    allowance.failed(LATER_MS);
    expect(allowance.state(LATER_MS)).toBe('open');
    expect(allowance.state(LATER_MS + 5_250)).toBe('half_open');
  });

  it('recovers by itself when the trial succeeds', () => {
    const allowance = afterFailures(9);
    allowance.succeeded();
    expect([allowance.limit(0), allowance.state(0)]).toEqual([2, 'closed']);
  });
});
