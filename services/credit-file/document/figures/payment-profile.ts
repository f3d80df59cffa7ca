/** The months of an account's payment profile, without gaps. */
import type { Trade } from '../../credit-file.ts';
import { firstDay, monthNumber } from './months.ts';

export interface ProfileMonth extends Omit<NonNullable<Trade['paymentProfile']>[number], 'month'> {
  /** The first day of the month: "2026-11-01". */
  month: string;
}

/** A half more than a bureau sends, so that the months of a profile with gaps are all there. */
const MAX_MONTHS = 36;

/** The months of a profile, oldest first. A month that the profile skips was not rated. */
export function listProfile({ paymentProfile = [] }: Trade): ProfileMonth[] {
  const rated = new Map(paymentProfile.map((it) => [monthNumber(it.month), it]));
  rated.delete(undefined);
  const numbers = Array.from(rated.keys(), (number) => number ?? 0);
  const last = Math.max(...numbers);
  const first = Math.max(Math.min(...numbers), last - MAX_MONTHS + 1);
  const length = numbers.length === 0 ? 0 : last - first + 1;
  return Array.from({ length }, (_, index) => ({
    ...rated.get(first + index),
    month: firstDay(first + index),
  }));
}
