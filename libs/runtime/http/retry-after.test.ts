import { afterEach, describe, expect, test, vi } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00Z');
const MAX_MS = 2 ** 31 * 1_000;

const HEADERS: [header: string | null | undefined, delayMs: number | undefined][] = [
  ['120', 120_000],
  ['90.5', 90_500],
  ['120, 600', 120_000],
  ['120,', 120_000],
  ['99999999999999999999', MAX_MS],
  ['9'.repeat(400), MAX_MS],
  [' 0 ', 0],
  ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
  ['Sun, 01 Mar 2026 12:00:30 GMT, 600', 30_000],
  ['Sun, 1 Mar 2026 12:00:30', 30_000],
  ['Sun, 01 Mar 2026 21:00:30 +0900', 30_000],
  ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
  ['Sunday, 01-Mar-26 12:00:30 GMT', 30_000],
  ['Sunday, 01-Mar-76 12:00:00 GMT', Date.parse('2076-03-01T12:00:00Z') - NOW_MS],
  ['Tuesday, 01-Mar-77 12:00:00 GMT', 0],
  ['Sun Mar  1 13:00:00 2026', 3_600_000],
  ['Sun Mar  1 13:00:00 2026, 600', 3_600_000],
  ['Sun Mar 15 12:00:00 2026', 14 * 86_400_000],
  ['-5', undefined],
  ['1.', undefined],
  ['.5', undefined],
  ['0x10', undefined],
  ['1e3', undefined],
  ['120 s', undefined],
  ['2026-03-01T12:00:30Z', undefined],
  ['Sun, 01 Abc 2026 12:00:30 GMT', undefined],
  ['Sun, 32 Mar 2026 12:00:30 GMT', undefined],
  ['Sun, 01 Mar 2026 25:00:00 GMT', undefined],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
  [undefined, undefined],
];

afterEach(() => vi.unstubAllEnvs());

describe.each(['UTC', 'Asia/Tokyo', 'America/Toronto'])('in the time zone %s', (zone) => {
  test.each(HEADERS)('the Retry-After %j is read as %j ms', (header, expected) => {
    vi.stubEnv('TZ', zone);
    expect(retryAfterMs(header, NOW_MS)).toBe(expected);
  });
});
