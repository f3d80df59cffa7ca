/** The late payments of a file's accounts, by month, for the chart of the payment history. */
import type { Trade } from '../../credit-file.ts';
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
const DATE = /^(\d{4})-(\d{2})-\d{2}$/;

/**
 * Counts the earlier high payment rates of the months up to the month of `lastDate`. A rate without a date
 * is left out; one after `lastDate` counts for the last month.
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
  for (const { date, rate } of trades.flatMap((trade) => trade.previousHighPaymentRates ?? [])) {
    const month = date === undefined ? undefined : monthNumber(date);
    const late = rate === undefined ? undefined : lateness(rate);
    if (month === undefined || late === undefined) continue;
    const counts = month < first ? before : months[Math.min(month - first, MONTHS - 1)];
    if (counts !== undefined) counts[late] += 1;
  }
  return { before, months };
}

export function totalLate({ one, two, severe }: LateCounts): number {
  return one + two + severe;
}

function noneLate(): LateCounts {
  return { one: 0, two: 0, severe: 0 };
}

/** The months since year 0, so that months can be subtracted. */
function monthNumber(date: string): number | undefined {
  const [, year, month] = DATE.exec(date) ?? [];
  return year === undefined ? undefined : Number(year) * 12 + Number(month) - 1;
}

function firstDay(month: number): string {
  const year = String(Math.floor(month / 12)).padStart(4, '0');
  return `${year}-${String((month % 12) + 1).padStart(2, '0')}-01`;
}
