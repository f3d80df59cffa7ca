/** Payment rates: their order from good to bad, and the worst of a file. */
import type { PaymentRate, Trade } from '../../credit-file.ts';

/** From the worst to the best. */
export const RATES_WORST_FIRST: readonly PaymentRate[] = [
  'BAD_DEBT_PLACED_FOR_COLLECTION',
  'REPOSSESSION',
  'MAKING_REGULAR_PAYMENTS_UNDER_CONSOLIDATION_ORDER',
  'AT_LEAST_120_DAYS_OVERDUE_BUT_NOT_RATED_9',
  'THREE_OR_MORE_PAYMENTS_PAST_DUE',
  'NOT_MORE_THAN_TWO_PAYMENTS_PAST_DUE',
  'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE',
  'PAID_AS_AGREED_AND_UP_TO_DATE',
  'TOO_NEW_TO_RATE',
];

/** How late a payment is: `severe` is three payments or more, or worse. */
export type Lateness = 'one' | 'two' | 'severe';

/** The lateness that a rate says; undefined for a rate that is not late. */
export function lateness(rate: PaymentRate): Lateness | undefined {
  switch (rate) {
    case 'TOO_NEW_TO_RATE':
    case 'PAID_AS_AGREED_AND_UP_TO_DATE':
      return undefined;
    case 'NOT_MORE_THAN_ONE_PAYMENT_PAST_DUE':
      return 'one';
    case 'NOT_MORE_THAN_TWO_PAYMENTS_PAST_DUE':
      return 'two';
    default:
      return 'severe';
  }
}

/** The worst of the rates; undefined without any. */
function worstRate(rates: readonly (PaymentRate | undefined)[]): PaymentRate | undefined {
  return RATES_WORST_FIRST.find((rate) => rates.includes(rate));
}

/** The worst rate that accounts have now, and the worst that they ever had, as far as is reported. */
export function worstRates(trades: readonly Trade[]): {
  present: PaymentRate | undefined;
  ever: PaymentRate | undefined;
} {
  const present = trades.map((trade) => trade.paymentRate);
  const earlier = trades.flatMap(({ previousHighPaymentRates = [], paymentProfile = [] }) =>
    [...previousHighPaymentRates, ...paymentProfile].map(({ rate }) => rate),
  );
  return { present: worstRate(present), ever: worstRate([...present, ...earlier]) };
}

/** How often all accounts together were 30, 60 and 90 days late; undefined if no account reports it. */
export function totalDaysPastDue(trades: readonly Trade[]): number[] | undefined {
  const counts = trades.map((trade) => [
    trade.count30DaysPastDue,
    trade.count60DaysPastDue,
    trade.count90DaysPastDue,
  ]);
  if (counts.flat().every((count) => count === undefined)) return undefined;
  return [0, 1, 2].map((column) =>
    counts.reduce((total, count) => total + (count[column] ?? 0), 0),
  );
}

/** How many accounts have each rate now, worst rate first; those without a rate last. */
export function countPresentRates(
  trades: readonly Trade[],
): { rate: PaymentRate | undefined; accounts: number }[] {
  return [...RATES_WORST_FIRST, undefined]
    .map((rate) => ({
      rate,
      accounts: trades.filter(({ paymentRate }) => paymentRate === rate).length,
    }))
    .filter(({ accounts }) => accounts > 0);
}
