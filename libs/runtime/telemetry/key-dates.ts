/** The days on which keys were made, where their texts say so, and the metric of them. */

import { refuse } from '../env.ts';
import { calendarDate, dayOf, isCalendarDate } from '../values/calendar-date.ts';
import type { Metrics } from './metrics.ts';

/** Splits `KEY:yyyy-MM-dd`, or `KEY` alone. Throws what `refuse` throws unless the date is a calendar date. */
export function splitKeyDate(text: string): { key: string; madeAt: Date | undefined } {
  const [key = '', ...rest] = text.split(':');
  if (rest.length === 0) return { key, madeAt: undefined };
  const date = rest.join(':');
  if (!isCalendarDate(date)) refuse('keys whose dates are calendar dates, written yyyy-MM-dd');
  return { key, madeAt: dayOf(date) };
}

/** The text of a key that is made today. */
export function withTodaysDate(key: string): string {
  return `${key}:${calendarDate(new Date())}`;
}

/**
 * Exports when the keys of a setting were made; `read` gives those that have a date on each scrape, by their ids or
 * positions. Keys without a date, such as those of earlier versions, are left out.
 */
export function observeKeyDates(
  metrics: Metrics,
  key: string,
  read: () => ReadonlyMap<string, Date>,
): void {
  let exported: ReadonlyMap<string, Date> = new Map();
  metrics.gauge(
    'key_made_timestamp_seconds',
    'When a key of this process was made, in seconds since the epoch, where its text has the date.',
    ['key', 'id'],
    (gauge) => {
      const dates = read();
      for (const id of exported.keys()) if (!dates.has(id)) gauge.remove({ key, id });
      for (const [id, madeAt] of dates) gauge.set({ key, id }, madeAt.getTime() / 1_000);
      exported = dates;
    },
  );
}
