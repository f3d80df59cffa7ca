import { expect, test } from 'vitest';
import { FRENCH } from '../words/french.ts';
import {
  countPresentRates,
  lateness,
  RATES_WORST_FIRST,
  totalDaysPastDue,
  worstRates,
} from './payment-rates.ts';

test('every payment rate has a place in the order', () => {
  expect([...RATES_WORST_FIRST].sort()).toEqual(
    Object.keys(FRENCH.enumerations.paymentRate).sort(),
  );
});

test('the worst rate on record is that of an earlier month if no present rate is worse', () => {
  const trades = [
    { paymentRate: 'PAID_AS_AGREED_AND_UP_TO_DATE' as const },
    {
      paymentRate: 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE' as const,
      previousHighPaymentRates: [{ rate: 'REPOSSESSION' as const }, {}],
    },
    {},
  ];
  expect(worstRates(trades)).toEqual({
    present: 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE',
    ever: 'REPOSSESSION',
  });
});

test('the worst rate on record may be that of a payment profile', () => {
  const paymentProfile = [
    { month: '2026-10' },
    { month: '2026-09', rate: 'REPOSSESSION' as const },
  ];
  expect(worstRates([{ paymentProfile }])).toEqual({ present: undefined, ever: 'REPOSSESSION' });
});

test('without rates, no rate is the worst', () => {
  expect(worstRates([{}])).toEqual({ present: undefined, ever: undefined });
});

test('a rate that is paid as agreed or too new is not late', () => {
  const late = RATES_WORST_FIRST.filter((rate) => lateness(rate) !== undefined);
  expect(late).toEqual(RATES_WORST_FIRST.slice(0, -2));
});

test('accounts are counted by rate, worst first, those without a rate last', () => {
  const trades = [
    {},
    { paymentRate: 'PAID_AS_AGREED_AND_UP_TO_DATE' as const },
    { paymentRate: 'REPOSSESSION' as const },
    { paymentRate: 'PAID_AS_AGREED_AND_UP_TO_DATE' as const },
  ];
  expect(countPresentRates(trades)).toEqual([
    { rate: 'REPOSSESSION', accounts: 1 },
    { rate: 'PAID_AS_AGREED_AND_UP_TO_DATE', accounts: 2 },
    { rate: undefined, accounts: 1 },
  ]);
});

test('late payments are added up by 30, 60 and 90 days, and are unknown if no account reports them', () => {
  expect(totalDaysPastDue([{ count30DaysPastDue: 3, count60DaysPastDue: 1 }, {}])).toEqual([
    3, 1, 0,
  ]);
  expect(totalDaysPastDue([{ count90DaysPastDue: 0 }])).toEqual([0, 0, 0]);
  expect(totalDaysPastDue([{}])).toBeUndefined();
});
