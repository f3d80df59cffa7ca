/** How a document writes amounts, dates, numbers and lists in its language. */
import { isCalendarDate } from '@creditlane/runtime/calendar-date';
import type { Words } from './words.ts';

type Currency = 'CAD' | 'USD';

/** An absent value has no text: the format returns undefined. */
export interface Formats {
  /** Dollars, with cents only if the amount has cents: "$1,250" or "1 250 $". */
  money(amount: number, currency?: Currency): string;
  money(amount: number | undefined, currency?: Currency): string | undefined;
  /** A calendar date: "Jan. 5, 2026" or "5 janv. 2026". Any other text is returned as it is; an empty one is absent. */
  date(text: string | undefined): string | undefined;
  /** The month of a calendar date: "Jan. 2026". */
  month(text: string): string;
  number(value: number): string;
  number(value: number | undefined): string | undefined;
  /** A ratio as a percentage without decimals. */
  percentage(ratio: number): string;
}

/** The formats of the language of `words`. Dates have no time zone: they are read and written in UTC. */
export function formatsOf({ locale }: Words): Formats {
  const decimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const percentage = new Intl.NumberFormat(locale, { style: 'percent', signDisplay: 'negative' });
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
  const month = new Intl.DateTimeFormat(locale, {
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
  const formatDate = (text: string, format: Intl.DateTimeFormat) => {
    return isCalendarDate(text) ? format.format(new Date(text)) : text;
  };
  function number(value: number): string;
  function number(value: number | undefined): string | undefined;
  function number(value: number | undefined) {
    return value === undefined ? undefined : decimal.format(value);
  }
  return {
    money: moneyFormat(locale),
    date: (text) => (text ? formatDate(text, date) : undefined),
    month: (text) => formatDate(text, month),
    number,
    percentage: (ratio) => percentage.format(ratio),
  };
}

function moneyFormat(locale: string): Formats['money'] {
  const make = (currency: Currency, digits: number) =>
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
  function money(amount: number, currency?: Currency): string;
  function money(amount: number | undefined, currency?: Currency): string | undefined;
  function money(amount: number | undefined, currency: Currency = 'CAD') {
    if (amount === undefined) return undefined;
    const { whole, cents } = formats[currency];
    return (Number.isInteger(amount) ? whole : cents).format(amount);
  }
  return money;
}

/** A telephone number of North America in groups: "416-555-0101". Any other text stays as it is. */
export function formatPhoneNumber(number: string): string {
  return number.replace(/^(\d{3})(\d{3})(\d{4})$/, '$1-$2-$3');
}

/** A postal code of Canada in two groups, as on envelopes: "H3B 4W8". Any other text stays as it is. */
export function formatPostalCode(code: string): string {
  return code.replace(/^([A-Z]\d[A-Z])(\d[A-Z]\d)$/, '$1 $2');
}
