import { calendarDate, isCalendarDate } from '@creditlane/runtime/calendar-date';
import { describe, expect, test } from 'vitest';
import { Fault } from './fault.ts';
import { FieldFaults } from './field-faults.ts';

describe('what is wrong with a request', () => {
  test('is told all at once, with a pointer to each field and no value', () => {
    const faults = new FieldFaults();
    faults.checkDate('/worksheet/deliveryDate', '2026-02-30');
    faults.checkOneOf('/province', 'XX', new Set(['ON', 'QC']));
    faults.checkNotNegative('/rebate', -1);
    faults.checkPrintable('/name', 'a\u0000b');
    const fault = refusal(faults);
    expect(fault.code).toBe('invalid_thing');
    expect(fault.fields.map(({ pointer }) => pointer)).toEqual([
      '/worksheet/deliveryDate',
      '/province',
      '/rebate',
      '/name',
    ]);
    expect(fault.message).toContain('worksheet/deliveryDate must be a calendar date');
    expect(fault.message).not.toContain('2026-02-30');
  });

  test('is nothing when every field is right or was not given', () => {
    const faults = new FieldFaults();
    faults.checkDate('/date', '2028-02-29');
    faults.checkOneOf('/province', '', new Set(['ON']));
    faults.checkNotNegative('/rebate', undefined);
    faults.checkPrintable('/name', 'Zoë & Søn');
    expect(() => faults.throwIfAny('invalid_thing')).not.toThrow();
  });
});

test.each(['2026-02-29', '2026-13-01', '2026-00-10', '0000-01-01', '26-01-01', '2026-1-1', ''])(
  '%s is no day of the calendar',
  (text) => expect(isCalendarDate(text)).toBe(false),
);

test('an instant has its day in UTC', () => {
  expect(calendarDate(new Date('2026-03-01T23:59:59.999Z'))).toBe('2026-03-01');
});

function refusal(faults: FieldFaults): Fault {
  try {
    faults.throwIfAny('invalid_thing');
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
