import { expect, test } from 'vitest';
import { calendarDate, isCalendarDate, torontoDate } from './calendar-date.ts';

test.each(['2026-02-29', '2026-13-01', '2026-00-10', '0000-01-01', '26-01-01', '2026-1-1', ''])(
  '%s is not a calendar date',
  (text) => expect(isCalendarDate(text)).toBe(false),
);

test('the calendar date of an instant is the one in UTC', () => {
  expect(calendarDate(new Date('2026-03-01T23:59:59.999Z'))).toBe('2026-03-01');
});

test.each([
  ['2026-03-02T04:59:59Z', '2026-03-01'],
  ['2026-03-02T05:00:00Z', '2026-03-02'],
  ['2026-07-01T03:59:59Z', '2026-06-30'],
  ['2026-07-01T04:00:00Z', '2026-07-01'],
])('%s is the %s in Toronto', (instant, date) => {
  expect(torontoDate(new Date(instant))).toBe(date);
});
