import { expect, test } from 'vitest';
import type { PaymentRate, Trade } from '../../credit-file.ts';
import { countLateMonths, totalLate } from './late-months.ts';

const ONE: PaymentRate = 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE';
const rated = (...rates: { date?: string; rate?: PaymentRate }[]) => [
  { previousHighPaymentRates: rates },
];

test('the months are the 24 up to that of the last date', () => {
  const { months } = countLateMonths([], '2026-01-31');
  expect(months).toHaveLength(24);
  expect(months[0]?.month).toBe('2024-02-01');
  expect(months.at(-1)?.month).toBe('2026-01-01');
});

test('a late payment counts in its month by how late it is', () => {
  const trades = [
    ...rated({ date: '2025-12-01', rate: ONE }),
    ...rated(
      { date: '2025-12-31', rate: 'BAD_DEBT_PLACED_FOR_COLLECTION' },
      { date: '2026-01-01', rate: 'NOT_MORE_THAN_TWO_PAYMENTS_PAST_DUE' },
    ),
  ];
  const { months, before } = countLateMonths(trades, '2026-01-31');
  expect(months.at(-2)).toEqual({ month: '2025-12-01', one: 1, two: 0, severe: 1 });
  expect(months.at(-1)).toEqual({ month: '2026-01-01', one: 0, two: 1, severe: 0 });
  expect(totalLate(before)).toBe(0);
});

test('a late payment of an earlier month counts as before, one of a later month for the last', () => {
  const trades = rated({ date: '2024-01-31', rate: ONE }, { date: '2026-02-01', rate: ONE });
  const { months, before } = countLateMonths(trades, '2026-01-31');
  expect(before.one).toBe(1);
  expect(months.at(-1)?.one).toBe(1);
});

test('a rate that is not late, or has no date, does not count', () => {
  const trades = rated(
    { date: '2025-12-01', rate: 'PAID_AS_AGREED_AND_UP_TO_DATE' },
    { rate: ONE },
    { date: 'unknown', rate: ONE },
    { date: '2025-12-01' },
  );
  const { months, before } = countLateMonths(trades, '2026-01-31');
  expect([before, ...months].map(totalLate).every((total) => total === 0)).toBe(true);
});

test('without a last date there are no months', () => {
  expect(countLateMonths(rated({ date: '2025-12-01', rate: ONE }), '').months).toEqual([]);
});

test('a payment profile gives the late payments of its months', () => {
  const trades: Trade[] = [
    {
      paymentProfile: [
        { month: '2026-01', rate: 'NOT_MORE_THAN_TWO_PAYMENTS_PAST_DUE' },
        { month: '2025-12', rate: ONE },
        { month: '2025-11', rate: 'PAID_AS_AGREED_AND_UP_TO_DATE' },
        { month: '2025-10' },
        { month: '2025-09', status: 'ACCOUNT_IS_INACTIVE' },
      ],
    },
  ];
  const { months, before } = countLateMonths(trades, '2026-01-31');
  expect(months.at(-1)).toEqual({ month: '2026-01-01', one: 0, two: 1, severe: 0 });
  expect(months.at(-2)).toEqual({ month: '2025-12-01', one: 1, two: 0, severe: 0 });
  expect([before, ...months].map(totalLate).reduce((sum, total) => sum + total)).toBe(2);
});

test('of a month that the payment profile rates, the earlier high rate does not count', () => {
  const trades: Trade[] = [
    {
      paymentProfile: [
        { month: '2026-01', rate: ONE },
        { month: '2025-12', rate: 'PAID_AS_AGREED_AND_UP_TO_DATE' },
        { month: '2025-11' },
      ],
      previousHighPaymentRates: [
        { date: '2026-01-01', rate: 'REPOSSESSION' },
        { date: '2025-12-01', rate: 'REPOSSESSION' },
        { date: '2025-11-01', rate: 'REPOSSESSION' },
        { date: '2020-01-01', rate: 'REPOSSESSION' },
      ],
    },
  ];
  const { months, before } = countLateMonths(trades, '2026-01-31');
  expect(months.at(-1)).toEqual({ month: '2026-01-01', one: 1, two: 0, severe: 0 });
  expect(months.at(-2)).toEqual({ month: '2025-12-01', one: 0, two: 0, severe: 0 });
  expect(months.at(-3)).toEqual({ month: '2025-11-01', one: 0, two: 0, severe: 1 });
  expect(before.severe).toBe(1);
});
