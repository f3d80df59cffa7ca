import { isCalendarDate } from '@creditlane/runtime/calendar-date';
import { type FieldFault, invalid } from './fault.ts';

/**
 * Gathers what is wrong with a request's fields, so that its caller learns all of it at once. Every
 * pointer is a JSON Pointer (RFC 6901) into the request; no message repeats a refused value, for it
 * may be one that nobody should see.
 */
export class FieldFaults {
  readonly #faults: FieldFault[] = [];

  add(pointer: string, message: string): void {
    this.#faults.push({ pointer, message });
  }

  /** Refuses a text that is no day of the calendar. True when it is one. */
  checkDate(pointer: string, value: string): boolean {
    if (isCalendarDate(value)) return true;
    this.add(pointer, 'must be a calendar date written yyyy-MM-dd');
    return false;
  }

  /** Refuses a text outside a closed list; an empty one was not given. */
  checkOneOf(pointer: string, value: string, allowed: ReadonlySet<string>): void {
    if (value !== '' && !allowed.has(value)) {
      this.add(pointer, `must be one of ${[...allowed].join(', ')}`);
    }
  }

  checkNotNegative(pointer: string, value: number | undefined): void {
    if (value !== undefined && value < 0) this.add(pointer, 'must not be negative');
  }

  /** Refuses control characters: they mean nothing in a name, and PostgreSQL keeps no NUL at all. */
  checkPrintable(pointer: string, value: string): void {
    if (/\p{Cc}/u.test(value)) this.add(pointer, 'must not hold control characters');
  }

  /** Throws an `invalid` Fault that names every refused field, when there is one. */
  throwIfAny(code: string): void {
    if (this.#faults.length === 0) return;
    const named = this.#faults.map(({ pointer, message }) => `${pointer.slice(1)} ${message}`);
    throw invalid(code, named.join('; '), this.#faults);
  }
}
