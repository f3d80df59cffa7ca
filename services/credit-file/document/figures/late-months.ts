/** The late payments of a file's accounts, by month, for the chart of the payment history. */
import type { Trade } from '../../credit-file.ts';
import { firstDay, monthNumber } from './months.ts';
import { type Lateness, lateness } from './payment-rates.ts';

/** The late payments that accounts had in one month, or before the first month. */
export type LateCounts = Record<Lateness, number>;
export interface LateMonth extends LateCounts {
  /** The first day of the month: "2026-11-01". */
  month: string;
}
export interface LateMonths {
  before: LateCounts;
  /** Oldest first, without gaps. */
  months: LateMonth[];
}

/** As many months as most lenders look back. */
const MONTHS = 24;

/**
 * Counts the late rates of the months up to the month of `lastDate`: those of the payment profiles, and the earlier high
 * rates of months that a profile does not rate. A rate without a date is left out; one after `lastDate` counts for the
 * last month.
 */
export function countLateMonths(trades: readonly Trade[], lastDate: string): LateMonths {
  const last = monthNumber(lastDate);
  if (last === undefined) return { before: noneLate(), months: [] };
  const first = last - MONTHS + 1;
  const before = noneLate();
  const months = Array.from({ length: MONTHS }, (_, index) => ({
    month: firstDay(first + index),
    ...noneLate(),
  }));
  for (const { month, rate } of trades.flatMap(listRates)) {
    const late = rate && lateness(rate);
    if (month === undefined || late === undefined) continue;
    const counts = month < first ? before : months[Math.min(month - first, MONTHS - 1)];
    if (counts !== undefined) counts[late] += 1;
  }
  return { before, months };
}

/** The rates of a trade's months. */
function listRates({ paymentProfile = [], previousHighPaymentRates = [] }: Trade) {
  const profile = paymentProfile.map(({ month, rate }) => ({ month: monthNumber(month), rate }));
  const rated = new Set(profile.map(({ month, rate }) => rate && month));
  const earlier = previousHighPaymentRates
    .map(({ date, rate }) => ({ month: monthNumber(date), rate }))
    .filter(({ month }) => !rated.has(month));
  return [...profile, ...earlier];
}

export function totalLate({ one, two, severe }: LateCounts): number {
  return one + two + severe;
}

function noneLate(): LateCounts {
  return { one: 0, two: 0, severe: 0 };
}
