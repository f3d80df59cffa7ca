/** Reads the values of an answer's elements, and collects what has no value of the interface. */
import { isCalendarDate } from '@creditlane/runtime/calendar-date';
import type { UnknownCode } from '../bureau.ts';
import type { CodeTables, TableName } from './code-tables.ts';
import { findElement } from './find-element.ts';
import type { XmlElement } from './xml-document.ts';

/** In the place of a code: the text of dates, amounts and numbers may say who the person is. */
const NOT_A_DATE = '(not a date)';
const NOT_AN_AMOUNT = '(not an amount)';
const NOT_A_SIN = '(not a SIN)';
/** The description of an element without a code is unknown. */
const NO_CODE = '(none)';
const NOT_A_CODE = '(not a code)';
/** Behind a code: its description names another value of the interface, which is used. */
const OTHER_DESCRIPTION = '(described otherwise)';
/** With fewer digits than a SIN or a telephone number has, also where signs part them. */
const CODE = /^(?!(?:\D*\d){6})[\w .,:/+*#-]{1,12}$/;

export interface AnswerValueOptions {
  readonly tables: CodeTables;
  /** The day of a date that has none: 1 to 28. */
  readonly partialDateDay: number;
}

/** The values of one answer. A path is empty for the element itself; each value that cannot be read is absent. */
export class AnswerValues {
  readonly #options: AnswerValueOptions;
  readonly unknownCodes: UnknownCode[] = [];
  /** The wordings of the descriptions that came: most of them come many times. */
  readonly #wordings = new Map<string, string>();

  constructor(options: AnswerValueOptions) {
    this.#options = options;
  }

  /** The path of an element whose name is configured. Throws an Error for one that the bureau's file does not name. */
  pathOf(element: string): string {
    const path = this.#options.tables.elements.get(element);
    if (path === undefined) throw new Error(`the code tables have no element ${element}`);
    return path;
  }

  text(from: XmlElement | undefined, path: string): string | undefined {
    return findElement(from, path)?.text.trim() || undefined;
  }

  /** Whether there is a value, also one that cannot be read. */
  isGiven(from: XmlElement, path: string): boolean {
    return hasValue(this.text(from, path));
  }

  /** Whole dollars or a count, with or without leading zeros. */
  amount(from: XmlElement, path: string): number | undefined {
    const text = this.text(from, path);
    if (text === undefined) return undefined;
    // Adding 0 turns -0 into 0.
    if (/^-?\d{1,15}$/.test(text)) return Number(text) + 0;
    return this.leaveOut(from, path, NOT_AN_AMOUNT);
  }

  /** yyyy-MM-dd from yyyy-MM-dd, yyyyMMdd or yyyy-MM. Zeros alone are a filler. */
  date(from: XmlElement, path: string): string | undefined {
    return this.#dateOf(this.text(from, path), from, path);
  }

  /**
   * Dates by the names of their fields, as `date`, with the names of those that have no day in the answer.
   * @param paths where each date is; `@name` is an attribute of the element
   */
  dates<Name extends string>(from: XmlElement, paths: Readonly<Record<Name, string>>): Dates<Name> {
    const dates: Record<string, string> = {};
    const datesWithoutDay: string[] = [];
    for (const [name, path] of Object.entries<string>(paths)) {
      const text = path.startsWith('@')
        ? from.attributes[path.slice(1)]?.trim() || undefined
        : this.text(from, path);
      const date = this.#dateOf(text, from, path);
      if (date === undefined) continue;
      dates[name] = date;
      if (isMonth(text)) datesWithoutDay.push(name);
    }
    return { ...dates, ...(datesWithoutDay.length > 0 && { datesWithoutDay }) } as Dates<Name>;
  }

  /** As `date`, but yyyy-MM of a text without a day. Counts nothing. */
  dateOrMonth(from: XmlElement, path: string): string | undefined {
    const text = this.text(from, path);
    const date = readDate(text ?? '', this.#options.partialDateDay);
    return isMonth(text) ? date?.slice(0, 7) : date;
  }

  /** Nine digits. Nine zeros are a filler. */
  sin(from: XmlElement, path: string): string | undefined {
    const digits = this.text(from, path)?.replace(/[ -]/g, '');
    if (!hasValue(digits)) return undefined;
    return /^\d{9}$/.test(digits) ? digits : this.leaveOut(from, path, NOT_A_SIN);
  }

  /**
   * The value of a coded element: by its code, or else by its English description. An element without these
   * attributes has its code as its text.
   */
  code<T extends string>(
    from: XmlElement,
    path: string,
    table: TableName,
    values: ReadonlySet<T>,
  ): T | undefined {
    const element = path === '' ? from : findElement(from, path);
    if (element === undefined) return undefined;
    const { attributes } = element;
    const isCoded = 'code' in attributes || 'description' in attributes;
    const code = (isCoded ? (attributes.code ?? '') : element.text).trim();
    const description = (isCoded ? (attributes.description ?? '') : element.text).trim();
    return this.lookUp(from, path, { code, description, table, values });
  }

  /**
   * The value of a code or description that stands at `path`. A description that names another value of the interface
   * than the table overrules it, and the conflict is counted.
   */
  lookUp<T extends string>(
    from: XmlElement,
    path: string,
    it: { code: string; description: string; table: TableName; values: ReadonlySet<T> },
  ): T | undefined {
    const { code, description, table, values } = it;
    if (code === '' && description === '') return undefined;
    const byCode = this.#options.tables.codes[table].get(code);
    const byDescription = this.#wordingOf(description);
    if (isOneOf(values, byDescription)) {
      if (byCode !== undefined && byCode !== byDescription) {
        this.#count(from, path, `${visibleCode(code)} ${OTHER_DESCRIPTION}`);
      }
      return byDescription;
    }
    if (byCode === null) return undefined;
    return isOneOf(values, byCode) ? byCode : this.leaveOut(from, path, code || NO_CODE);
  }

  /** What a coded element says in the bureau's words. A code without words is left out and counted: it tells people nothing. */
  words(from: XmlElement | undefined, path: string): string | undefined {
    const { description = '', code = '' } = findElement(from, path)?.attributes ?? {};
    const words = description.trim();
    if (words !== '') return words;
    return from && code.trim() !== '' ? this.leaveOut(from, path, code) : undefined;
  }

  /** What a factor of a score is in words: those of the bureau's list, if the tables have them. Zeros are none. */
  factor(code: string | undefined): string | undefined {
    const text = code?.trim();
    if (!hasValue(text)) return undefined;
    return this.#options.tables.factors.get(text) ?? `factor ${text.replace(/^0+/, '')}`;
  }

  /** Whether the code is known, and the interface has no value for it. */
  isWithoutValue(table: TableName, code: string): boolean {
    return this.#options.tables.codes[table].get(code) === null;
  }

  /** Counts a value that is left out. */
  leaveOut(from: XmlElement, path: string, code: string): undefined {
    this.#count(from, path, code.startsWith('(') ? code : visibleCode(code));
  }

  #count(from: XmlElement, path: string, code: string): void {
    this.unknownCodes.push({ section: path === '' ? from.name : `${from.name}/${path}`, code });
  }

  #dateOf(text: string | undefined, from: XmlElement, path: string): string | undefined {
    if (!hasValue(text)) return undefined;
    return readDate(text, this.#options.partialDateDay) ?? this.leaveOut(from, path, NOT_A_DATE);
  }

  /** The wording of the interface's values: capitals, apostrophes dropped, one _ for all other signs. */
  #wordingOf(description: string): string {
    const known = this.#wordings.get(description);
    if (known !== undefined) return known;
    const wording = wordingOf(description, this.#options.tables);
    this.#wordings.set(description, wording);
    return wording;
  }
}

function wordingOf(description: string, { words, descriptions }: CodeTables): string {
  const plain = description.toUpperCase().replace(/['’]/g, '');
  const joined = plain.replace(/[^A-Z0-9]+/g, '_').replace(/^_|_$/g, '');
  const replaced = [...words].reduce((wording, [from, to]) => {
    return `_${wording}_`.replaceAll(`_${from}_`, `_${to}_`).slice(1, -1);
  }, joined);
  return descriptions.get(replaced) ?? replaced;
}

function visibleCode(code: string): string {
  return CODE.test(code) ? code : NOT_A_CODE;
}

/** Dates of one object of a credit file, all yyyy-MM-dd. */
export type Dates<Name extends string> = { [Field in Name]?: string } & {
  /** The fields whose day is not known. */
  datesWithoutDay?: string[];
};

/** Whether the text of a date has year and month only. */
function isMonth(text = ''): boolean {
  return /^\d{4}-\d{2}$/.test(text);
}

/** Whether there is a text, and not of zeros alone, which are a filler. */
function hasValue(text: string | undefined): text is string {
  return text !== undefined && !/^0*$/.test(text);
}

function isOneOf<T extends string>(
  values: ReadonlySet<T>,
  value: string | null | undefined,
): value is T {
  return (values as ReadonlySet<unknown>).has(value);
}

const DATE = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?|(\d{2})(\d{2}))$/;
const MIN_YEAR = 1850;
const MAX_YEAR = 2199;

function readDate(text: string, partialDateDay: number): string | undefined {
  const [, year = '', month, day, compactMonth, compactDay] = DATE.exec(text) ?? [];
  if (Number(year) < MIN_YEAR || Number(year) > MAX_YEAR) return undefined;
  const monthText = month ?? compactMonth;
  const dayText = day ?? compactDay ?? String(partialDateDay).padStart(2, '0');
  const date = `${year}-${monthText}-${dayText}`;
  return isCalendarDate(date) ? date : undefined;
}

/** A person's name, whose elements have the same names at both bureaus. */
export function readName(from: XmlElement | undefined, values: AnswerValues) {
  return {
    firstName: values.text(from, 'FirstName'),
    middleName: values.text(from, 'MiddleName'),
    lastName: values.text(from, 'LastName'),
    suffix: values.text(from, 'Suffix') ?? values.words(from, 'Suffix'),
  };
}

/** The value of a score: digits, after a sign or leading zeros, or a word such as "N/A". */
export function readScoreValue(text: string | undefined) {
  const [, sign, digits] = /^([+-]?)0*(\d{1,9})$/.exec(text ?? '') ?? [];
  return {
    // Adding 0 turns -0 into 0.
    number: digits === undefined ? undefined : Number(`${sign}${digits}`) + 0,
    sign: sign || undefined,
    value: digits ?? text,
  };
}

type Fields<T> = { [Name in keyof T]: T[Name] | undefined };

/** The fields that are there; undefined if none is. An empty list is absent. */
export function presentFields<T extends object>(fields: Fields<T>): Partial<T> | undefined {
  const entries = Object.entries(fields).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as Partial<T>);
}

/** What `read` makes of each element, without the elements of which it makes nothing. */
export function readEach<T>(
  elements: readonly XmlElement[],
  read: (element: XmlElement) => T | undefined,
): T[] {
  return elements.map(read).filter((item) => item !== undefined);
}
