import { expect, test } from 'vitest';
import { listProfile } from './payment-profile.ts';

test('the months of a profile are listed oldest first, those that it skips without a rate', () => {
  const paymentProfile = [
    { month: '2026-02', rate: 'REPOSSESSION' as const },
    { month: '2026-01', status: 'ACCOUNT_IS_INACTIVE' as const },
    { month: '2025-11', rate: 'TOO_NEW_TO_RATE' as const },
  ];
  expect(listProfile({ paymentProfile })).toEqual([
    { month: '2025-11-01', rate: 'TOO_NEW_TO_RATE' },
    { month: '2025-12-01' },
    { month: '2026-01-01', status: 'ACCOUNT_IS_INACTIVE' },
    { month: '2026-02-01', rate: 'REPOSSESSION' },
  ]);
});

test('a profile of a few months far apart has the last 36', () => {
  const months = listProfile({ paymentProfile: [{ month: '2026-02' }, { month: '0001-01' }] });
  expect(months).toHaveLength(36);
  expect(months.at(-1)?.month).toBe('2026-02-01');
});

test('without a month there is no profile', () => {
  expect(listProfile({})).toEqual([]);
  expect(listProfile({ paymentProfile: [{ rate: 'REPOSSESSION' }, { month: 'May' }] })).toEqual([]);
});
