import { isCalendarDate } from '@creditlane/runtime/calendar-date';
import { type FieldFault, invalidFields } from './fault.ts';

/** A character that leaves a mark or takes a place of its own; U+2800 is a braille pattern without dots. */
const VISIBLE = /[^\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Control characters, line and paragraph separators, and characters that change the direction of the text after the value, too. */
const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/**
 * Collects what is wrong with the fields of a request, so that one Fault names all of it. Every
 * `pointer` is a JSON Pointer (RFC 6901) into the request. No message repeats a value, because values
 * can be personal data.
 */
export class FieldFaults {
  readonly #faults: FieldFault[] = [];

  add(pointer: string, message: string): void {
    this.#faults.push({ pointer, message });
  }

  /** Requires a calendar date such as "2026-02-28", of these years. Returns whether the value is one. */
  checkDate(pointer: string, value: string, [first, last]: readonly [number, number]): boolean {
    const isDate = isCalendarDate(value);
    const year = Number(value.slice(0, 4));
    if (isDate && year >= first && year <= last) return true;
    const message = isDate
      ? `must be a date of the years ${first} to ${last}`
      : 'must be a calendar date such as 2026-03-31';
    this.add(pointer, message);
    return false;
  }

  /** Requires one of the allowed values, or an empty value, which means that the field is not set. */
  checkOneOf(pointer: string, value: string, allowed: ReadonlySet<string>): void {
    if (value !== '' && !allowed.has(value)) {
      this.add(pointer, `must be one of ${[...allowed].join(', ')}`);
    }
  }

  /** Requires a number from `first` to `last`, or none. */
  checkRange(pointer: string, value: number | undefined, first: number, last: number): void {
    if (value !== undefined && !(value >= first && value <= last)) {
      this.add(pointer, `must be from ${first} to ${last}`);
    }
  }

  checkNotNegative(pointer: string, value: number | undefined): void {
    if (value !== undefined && value < 0) this.add(pointer, 'must not be negative');
  }

  /** Requires a text of which a reader can see something. */
  checkNotBlank(pointer: string, value: string): void {
    if (!VISIBLE.test(value)) this.add(pointer, 'must not be blank');
  }

  /** Requires a text that PostgreSQL can store, in one line or several: NUL is the one character that it cannot. */
  checkStorable(pointer: string, value: string): void {
    if (value.includes('\0')) this.add(pointer, 'must not hold a NUL');
  }

  /** Requires a text without control characters, those of its direction included. */
  checkPrintable(pointer: string, value: string): void {
    if (CONTROL.test(value)) this.add(pointer, 'must not contain control characters');
  }

  /** Requires a text of one line that a reader can see. */
  checkName(pointer: string, value: string): void {
    this.checkNotBlank(pointer, value);
    this.checkPrintable(pointer, value);
  }

  /** Requires the first or the last name of a person, or both: some people have one name. Those given are checked as `checkName` does. */
  checkPersonNames(at: string, names: { firstName: string; lastName: string }): void {
    const given = (['firstName', 'lastName'] as const).filter((name) => names[name] !== '');
    for (const name of given) this.checkName(`${at}/${name}`, names[name]);
    if (given.length === 0) this.add(`${at}/lastName`, 'must be given, unless firstName is');
  }

  /** Throws an `invalid` Fault that names every field with a fault; does nothing when there is none. */
  throwIfAny(code: string): void {
    if (this.#faults.length === 0) return;
    throw invalidFields(code, this.#faults);
  }
}
