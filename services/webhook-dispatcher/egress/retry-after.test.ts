import { describe, expect, test } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const now = new Date('2026-03-01T12:00:00Z');

describe('Retry-After', () => {
  test.each([
    ['120', 120_000],
    ['99999999999999999999', 2 ** 31 * 1_000],
    ['9'.repeat(400), 2 ** 31 * 1_000],
    [' 0 ', 0],
    ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads %j as %j ms', (header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected);
  });
});
