import { expect, test } from 'vitest';
import { findVinFault, normalVin } from './vin.ts';

test.each([
  ['of Honda in the United States, with X as check digit', '1HGBH41JXMN109186', 1991],
  ['of Ford in the United States', '1FAHP26W49G252740', 2009],
  ['of seventeen ones', '11111111111111111', undefined],
  ['of Tesla in Texas', '7SAYGDEE0NA012345', 2022],
  ['of a maker in Germany, which has no check digit', 'WVWZZZ1JZXW000001', 1999],
  ['of a maker in Japan', 'JHMCM56557C404453', 2007],
  ['of 1972, in the maker’s own form', '1Z37J2S4-1', 1972],
])('a number %s is accepted', (_, vin, year) => {
  expect(findVinFault(vin, year)).toBeUndefined();
});

test.each([
  ['one character less', '1HGBH41JXMN10918', 1991],
  ['one character more', '1HGBH41JXMN1091866', undefined],
  ['an I', '1HGBH41JXMNI09186', 1991],
  ['an O', '1HGBH41JXMN1O9186', 1991],
  ['a Q', '1HGBH41JXMN1Q9186', 1991],
  ['a dash', '1HGBH41J-MN109186', 1991],
  ['the form of the time before, without a year', '1Z37J2S4-1', undefined],
])('a number with %s is refused', (_, vin, year) => {
  expect(findVinFault(vin, year)).toMatch(/^must have 17 letters and digits/);
});

test.each(['1HGBH41J1MN109186', '1HGBH41JXMN109187', '2HGBH41JXMN109186'])(
  'the number %s of a North American maker is refused: its check digit is wrong',
  (vin) => {
    expect(findVinFault(vin, 1991)).toMatch(/check digit/);
  },
);

test('a number is taken in lower case, and stored in capitals', () => {
  expect(findVinFault('1hgbh41jxmn109186', 1991)).toBeUndefined();
  expect(normalVin('1hgbh41jxmn109186')).toBe('1HGBH41JXMN109186');
});
