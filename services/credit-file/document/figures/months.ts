/** Months as numbers, so that they can be subtracted. */

const MONTH = /^(\d{4})-(\d{2})(?:-\d{2})?$/;

/** The months since year 0 up to that of a date or month, such as "2026-11"; undefined for any other text. */
export function monthNumber(date: string | undefined): number | undefined {
  const [, year, month] = MONTH.exec(date ?? '') ?? [];
  return year === undefined ? undefined : Number(year) * 12 + Number(month) - 1;
}

/** The first day of a month: "2026-11-01". */
export function firstDay(month: number): string {
  const year = String(Math.floor(month / 12)).padStart(4, '0');
  return `${year}-${String((month % 12) + 1).padStart(2, '0')}-01`;
}
