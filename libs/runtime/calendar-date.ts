/** Whether the text is a day that the calendar has, written yyyy-MM-dd (RFC 3339 full-date), from the year 1 on. */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const midnight = new Date(`${text}T00:00:00Z`);
  // An impossible day such as 30 February is either no time at all or one in the next month.
  return !Number.isNaN(midnight.getTime()) && calendarDate(midnight) === text;
}

/** The day at an instant, in UTC, written yyyy-MM-dd. */
export function calendarDate(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}
