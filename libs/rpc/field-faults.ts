import { isCalendarDate } from '@creditlane/runtime/calendar-date';
import { type FieldFault, invalidFields } from './fault.ts';

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

  /** Requires a calendar date such as "2026-02-28". Returns whether the value is one. */
  checkDate(pointer: string, value: string): boolean {
    if (isCalendarDate(value)) return true;
    this.add(pointer, 'must be a calendar date such as 2026-03-31');
    return false;
  }

  /** Requires one of the allowed values, or an empty value, which means that the field is not set. */
  checkOneOf(pointer: string, value: string, allowed: ReadonlySet<string>): void {
    if (value !== '' && !allowed.has(value)) {
      this.add(pointer, `must be one of ${[...allowed].join(', ')}`);
    }
  }

  checkNotNegative(pointer: string, value: number | undefined): void {
    if (value !== undefined && value < 0) this.add(pointer, 'must not be negative');
  }

  /** Requires a text without control characters. PostgreSQL cannot store NUL. */
  checkPrintable(pointer: string, value: string): void {
    if (/\p{Cc}/u.test(value)) this.add(pointer, 'must not contain control characters');
  }

  /** Throws an `invalid` Fault that names every field with a fault; does nothing when there is none. */
  throwIfAny(code: string): void {
    if (this.#faults.length === 0) return;
    throw invalidFields(code, this.#faults);
  }
}
