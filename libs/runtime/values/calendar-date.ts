/** Whether the text is a calendar date from the year 1 on, written yyyy-MM-dd (RFC 3339 full-date). */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const midnight = dayOf(text);
  // Date rejects some impossible dates and moves others, such as 30 February, to the next month.
  return !Number.isNaN(midnight.getTime()) && calendarDate(midnight) === text;
}

/** The beginning in UTC of a calendar date. */
export function dayOf(date: string): Date {
  return new Date(`${date}T00:00:00Z`);
}

/** The calendar date of an instant in UTC, written yyyy-MM-dd. */
export function calendarDate(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}

/** The locale sv-SE writes a date as yyyy-MM-dd. */
const toronto = new Intl.DateTimeFormat('sv-SE', { timeZone: 'America/Toronto' });

/** The calendar date of an instant in Toronto, where the bureaus date their inquiries, written yyyy-MM-dd. */
export function torontoDate(instant: Date): string {
  return toronto.format(instant);
}
