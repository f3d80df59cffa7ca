/** How a document writes amounts, dates, numbers and lists in its language. */
import type { Words } from './words.ts';

export interface Formats {
  /** Dollars, with cents only if the amount has cents: "$1,250" or "1 250 $". */
  money(amount: number, currency?: 'CAD' | 'USD'): string;
  /** A calendar date: "Jan. 5, 2026" or "5 janv. 2026". Any other text is returned as it is. */
  date(text: string): string;
  /** The month of a calendar date: "Jan. 2026". */
  month(text: string): string;
  number(value: number): string;
  /** A ratio as a percentage without decimals. */
  percentage(ratio: number): string;
}

/** The formats of the language of `words`. Dates have no time zone: they are read and written in UTC. */
export function formatsOf({ locale }: Words): Formats {
  const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const percentage = new Intl.NumberFormat(locale, { style: 'percent' });
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
  const month = new Intl.DateTimeFormat(locale, {
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
  const formatDate = (text: string, format: Intl.DateTimeFormat) => {
    return isCalendarDate(text) ? format.format(new Date(text)) : text;
  };
  return {
    money: moneyFormat(locale),
    date: (text) => formatDate(text, date),
    month: (text) => formatDate(text, month),
    number: (value) => number.format(value),
    percentage: (ratio) => percentage.format(ratio),
  };
}

function moneyFormat(locale: string): Formats['money'] {
  const make = (currency: string, digits: number) =>
    new Intl.NumberFormat(locale, {
      style: 'currency',
      currency,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
  const formats = {
    CAD: { whole: make('CAD', 0), cents: make('CAD', 2) },
    USD: { whole: make('USD', 0), cents: make('USD', 2) },
  };
  return (amount, currency = 'CAD') => {
    const { whole, cents } = formats[currency];
    return (Number.isInteger(amount) ? whole : cents).format(amount);
  };
}

/** Whether a text is a date such as "2026-01-05". */
export function isCalendarDate(text: string | undefined): text is string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text ?? '') && !Number.isNaN(Date.parse(text ?? ''));
}

/** A telephone number of North America in groups: "416-555-0101". Any other text stays as it is. */
export function formatPhoneNumber(number: string): string {
  return number.replace(/^(\d{3})(\d{3})(\d{4})$/, '$1-$2-$3');
}

/** A postal code of Canada in two groups, as on envelopes: "H3B 4W8". Any other text stays as it is. */
export function formatPostalCode(code: string): string {
  return code.replace(/^([A-Z]\d[A-Z])(\d[A-Z]\d)$/, '$1 $2');
}
