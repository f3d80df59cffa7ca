import { expect, test } from 'vitest';
import { ENGLISH } from './english.ts';
import { formatPostalCode, formatsOf, maskAccountNumber, maskLongNumbers } from './formats.ts';
import { FRENCH } from './french.ts';

const english = formatsOf(ENGLISH);
const french = formatsOf(FRENCH);
/** With ordinary spaces in the place of the no-break spaces of French. */
const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ');

test('an amount has a currency sign, and cents only if it is not in whole dollars', () => {
  expect(english.money(12_345)).toBe('$12,345');
  expect(english.money(1200.5)).toBe('$1,200.50');
  expect(english.money(-3)).toBe('-$3');
  expect(plain(french.money(12_345))).toBe('12 345 $');
  expect(plain(french.money(1200.5))).toBe('1 200,50 $');
});

test('an amount in US dollars says so', () => {
  expect(english.money(50, 'USD')).toBe('US$50');
  expect(plain(french.money(50, 'USD'))).toBe('50 $ US');
});

test('a calendar date is the same day wherever the process runs', () => {
  expect(english.dateOf({ date: '2026-01-01' }, 'date')).toBe('Jan 1, 2026');
  expect(french.dateOf({ date: '2026-01-02' }, 'date')).toBe('2 janv. 2026');
  expect(english.month('2026-12-31')).toBe('Dec 2026');
});

test('the first of a month is "1er" in French', () => {
  expect(french.dateOf({ date: '2026-10-01' }, 'date')).toBe('1er oct. 2026');
  expect(french.dateOf({ date: '2026-10-11' }, 'date')).toBe('11 oct. 2026');
});

test('a date of which the day is not known is a month', () => {
  const trade = {
    dateOpened: '2017-09-01',
    dateReported: '2026-10-01',
    datesWithoutDay: ['dateOpened'],
  };
  expect(english.dateOf(trade, 'dateOpened')).toBe('Sep 2017');
  expect(french.dateOf(trade, 'dateOpened')).toBe('sept. 2017');
  expect(english.dateOf(trade, 'dateReported')).toBe('Oct 1, 2026');
});

test('a date of an entry that says nothing of its days is that day', () => {
  expect(english.dateOf({ dateFiled: '2017-09-01' }, 'dateFiled')).toBe('Sep 1, 2017');
});

test('a text that is no calendar date is returned as it is', () => {
  for (const text of ['2026-13-01', '2026-02-30', 'yesterday', '2026'])
    expect(english.dateOf({ date: text }, 'date')).toBe(text);
});

test('an absent value has no text', () => {
  expect(english.dateOf({ date: '' }, 'date')).toBeUndefined();
  expect(english.dateOf({ date: undefined }, 'date')).toBeUndefined();
  expect(english.dateOf({ dateFiled: '', datesWithoutDay: ['dateFiled'] }, 'dateFiled')).toBe(
    undefined,
  );
  expect(english.phoneNumber(undefined)).toBeUndefined();
  expect(english.money(undefined)).toBeUndefined();
  expect(english.number(undefined)).toBeUndefined();
});

test('a ratio is a percentage without decimals', () => {
  expect(english.percentage(0.426)).toBe('43%');
  expect(plain(french.percentage(1.36))).toBe('136 %');
});

test('a negative ratio that is rounded to zero has no sign', () => {
  expect(english.percentage(-0.004)).toBe('0%');
  expect(english.percentage(-0.04)).toBe('-4%');
});

test('a postal code of Canada is in two groups, and any other text stays as it is', () => {
  expect(formatPostalCode('H3B4W8')).toBe('H3B 4W8');
  expect(formatPostalCode('H3B 4W8')).toBe('H3B 4W8');
  expect(formatPostalCode('90210')).toBe('90210');
});

test('a telephone number is in groups, with its extension in the language of the document', () => {
  expect(english.phoneNumber('4165550101')).toBe('416-555-0101');
  expect(english.phoneNumber('416-555-0101')).toBe('416-555-0101');
  expect(english.phoneNumber('800-555-0143 ext. 7486')).toBe('800-555-0143 ext. 7486');
  expect(french.phoneNumber('800-555-0143 ext. 7486')).toBe('800-555-0143 poste 7486');
  // As files of an earlier version have it.
  expect(english.phoneNumber('800555-0143')).toBe('800-555-0143');
});

test('any other telephone number stays as it is', () => {
  expect(french.phoneNumber('555-0101 ext 4')).toBe('555-0101 ext 4');
});

test('an account number shows its last four characters alone', () => {
  expect(maskAccountNumber('450231000004471')).toBe('***4471');
  expect(maskAccountNumber('4502 3100 0000 4471')).toBe('***4471');
  expect(maskAccountNumber('AB-99812/X')).toBe('***812X');
});

test('an account number of four characters, or one that the bureau has masked, stays as it is', () => {
  expect(maskAccountNumber('7080')).toBe('7080');
  expect(maskAccountNumber('...4471')).toBe('...4471');
});

test('of a text with numbers, each of five digits or more shows its last four', () => {
  expect(maskLongNumbers('TELCO 5551234, UNIT 12')).toBe('TELCO ***1234, UNIT 12');
  expect(maskLongNumbers('BANK 4502 3100-0000 4471')).toBe('BANK ***4471');
  expect(maskLongNumbers('LAKEHEAD BANK VISA 4471')).toBe('LAKEHEAD BANK VISA 4471');
});
