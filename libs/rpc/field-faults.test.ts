import { describe, expect, test } from 'vitest';
import { Fault } from './fault.ts';
import { FieldFaults } from './field-faults.ts';

describe('the faults of fields', () => {
  test('are in one fault, with a pointer to each field and no value', () => {
    const faults = new FieldFaults();
    faults.checkDate('/worksheet/deliveryDate', '2026-02-30', [2000, 2100]);
    faults.checkDate('/deliveryDate', '1999-12-31', [2000, 2100]);
    faults.checkDate('/firstPaymentDate', '2101-01-01', [2000, 2100]);
    faults.checkRange('/interestRate', 100.1, 0, 100);
    faults.checkRange('/term', 0, 1, 600);
    faults.checkOneOf('/province', 'XX', new Set(['ON', 'QC']));
    faults.checkNotNegative('/rebate', -1);
    faults.checkPrintable('/name', 'a\u0000b');
    faults.checkPrintable('/seller', 'a\u202eb');
    faults.checkPrintable('/lines', 'a\u2028b');
    faults.checkNotBlank('/comment', ' \u200b\u00ad\u3164\u2800');
    faults.checkStorable('/reason', 'a\0b');
    faults.checkPersonNames('/nobody', { firstName: '', lastName: '' });
    faults.checkPersonNames('/somebody', { firstName: ' ', lastName: 'Roy' });
    const fault = thrownFault(faults);
    expect(fault.code).toBe('invalid_thing');
    expect(fault.fields.map(({ pointer }) => pointer)).toEqual([
      '/worksheet/deliveryDate',
      '/deliveryDate',
      '/firstPaymentDate',
      '/interestRate',
      '/term',
      '/province',
      '/rebate',
      '/name',
      '/seller',
      '/lines',
      '/comment',
      '/reason',
      '/nobody/lastName',
      '/somebody/firstName',
    ]);
    expect(fault.message).toContain('worksheet/deliveryDate must be a calendar date');
    expect(fault.message).toContain('/firstPaymentDate must be a date of the years 2000 to 2100');
    expect(fault.message).toContain('/term must be from 1 to 600');
    expect(fault.message).not.toContain('2026-02-30');
  });

  test('are none when every field is valid or not set', () => {
    const faults = new FieldFaults();
    faults.checkDate('/date', '2028-02-29', [2000, 2100]);
    faults.checkDate('/date', '2100-12-31', [2000, 2100]);
    faults.checkRange('/interestRate', 0, 0, 100);
    faults.checkRange('/term', undefined, 1, 600);
    faults.checkOneOf('/province', '', new Set(['ON']));
    faults.checkNotNegative('/rebate', undefined);
    faults.checkPrintable('/name', 'Zoë & Søn');
    faults.checkPrintable('/name', 'نام\u200cها');
    faults.checkNotBlank('/comment', ' \u{1f697} ');
    faults.checkStorable('/reason', 'one line\nand another');
    faults.checkPersonNames('', { firstName: 'Suharto', lastName: '' });
    faults.checkPersonNames('', { firstName: '', lastName: 'Suharto' });
    expect(() => faults.throwIfAny('invalid_thing')).not.toThrow();
  });
});

function thrownFault(faults: FieldFaults): Fault {
  try {
    faults.throwIfAny('invalid_thing');
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('no fault was thrown');
}
