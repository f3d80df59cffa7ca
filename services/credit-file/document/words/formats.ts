/** How a document writes amounts, dates, numbers and lists in its language. */
import { isCalendarDate } from '@creditlane/runtime/calendar-date';
import type { Words } from './words.ts';

type Currency = 'CAD' | 'USD';

/** An absent value has no text: the format returns undefined. */
export interface Formats {
  /** Dollars, with cents only if the amount has cents: "$1,250" or "1 250 $". */
  money(amount: number, currency?: Currency): string;
  money(amount: number | undefined, currency?: Currency): string | undefined;
  /** The month of a calendar date: "Jan 2026". */
  month(text: string): string;
  /**
   * The date of this name of an entry: "Jan 5, 2026" or "5 janv. 2026", or the month alone if the entry says that the day is
   * not known. A text that is no calendar date is returned as it is; an empty one is absent.
   */
  dateOf<Name extends string>(entry: Dated<Name> | undefined, name: Name): string | undefined;
  /** A telephone number of North America in groups: "416-555-0101 ext. 22". Any other text is returned as it is. */
  phoneNumber(text: string | undefined): string | undefined;
  number(value: number): string;
  number(value: number | undefined): string | undefined;
  /** A ratio as a percentage without decimals. */
  percentage(ratio: number): string;
}

type Dated<Name extends string> = { [name in Name]?: string | undefined } & {
  datesWithoutDay?: readonly string[] | undefined;
};

/** Files of an earlier version have the first two groups together. */
const PHONE_NUMBER = /^(\d{3})-?(\d{3})-?(\d{4})(?: ext\. (\w+))?$/;

/** The formats of the language of `words`. Dates have no time zone: they are read and written in UTC. */
export function formatsOf({ locale, ...words }: Words): Formats {
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
    month: (text) => formatDate(text, month),
    dateOf: (entry, name) => {
      const text = entry?.[name];
      if (!text) return undefined;
      const isMonth = entry?.datesWithoutDay?.includes(name);
      const formatted = formatDate(text, isMonth ? month : date);
      return locale === 'fr-CA' ? formatted.replace(/^1 /, '1er ') : formatted;
    },
    phoneNumber: (text) => {
      const [, area, exchange, line, extension] = PHONE_NUMBER.exec(text ?? '') ?? [];
      if (area === undefined) return text;
      const number = `${area}-${exchange}-${line}`;
      return extension === undefined ? number : `${number} ${words.extension(extension)}`;
    },
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

/** A postal code of Canada in two groups, as on envelopes: "H3B 4W8". Any other text stays as it is. */
export function formatPostalCode(code: string): string {
  return code.replace(/^([A-Z]\d[A-Z])(\d[A-Z]\d)$/, '$1 $2');
}

/** An account number with all but its last four letters and digits masked. One that has no more stays as it is. */
export function maskAccountNumber(number: string): string;
export function maskAccountNumber(number: string | undefined): string | undefined;
export function maskAccountNumber(number: string | undefined): string | undefined {
  const characters = number?.match(/[\p{L}\p{N}]/gu) ?? [];
  return characters.length <= 4 ? number : `***${characters.slice(-4).join('')}`;
}

/** A text in which each number of five digits or more, such as an account number, shows its last four alone. */
export function maskLongNumbers(text: string | undefined): string | undefined {
  return text?.replaceAll(/\d(?:[ -]?\d){4,}/g, (number) => maskAccountNumber(number));
}
