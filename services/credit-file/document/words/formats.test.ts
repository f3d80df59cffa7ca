import { expect, test } from 'vitest';
import { ENGLISH } from './english.ts';
import { formatPhoneNumber, formatPostalCode, formatsOf } from './formats.ts';
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
  expect(english.date('2026-01-01')).toBe('Jan 1, 2026');
  expect(french.date('2026-01-01')).toBe('1 janv. 2026');
  expect(english.month('2026-12-31')).toBe('Dec 2026');
});

test('a text that is no calendar date is returned as it is', () => {
  for (const text of ['2026-13-01', '2026-02-30', 'yesterday', '2026'])
    expect(english.date(text)).toBe(text);
});

test('an absent value has no text', () => {
  expect(english.date('')).toBeUndefined();
  expect(english.date(undefined)).toBeUndefined();
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

test('a telephone number of ten digits is in groups, and any other text stays as it is', () => {
  expect(formatPhoneNumber('4165550101')).toBe('416-555-0101');
  expect(formatPhoneNumber('416-555-0101')).toBe('416-555-0101');
  expect(formatPhoneNumber('555-0101 ext 4')).toBe('555-0101 ext 4');
});
