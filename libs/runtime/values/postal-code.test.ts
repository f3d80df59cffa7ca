import { expect, test } from 'vitest';
import { parsePostalCode, provincesOf } from './postal-code.ts';

test.each(['K1A 0B1', 'k1a0b1', 'K1A-0B1', 'K1A  0B1', ' k1a 0b1 ', 'K1A\u00a00B1'])(
  '"%s" is the postal code K1A 0B1',
  (text) => {
    expect(parsePostalCode(text)).toBe('K1A 0B1');
  },
);

test.each([
  ['a US ZIP code', '90210'],
  ['a US ZIP code with four digits more', '90210-1234'],
  ['the letter O for a zero', 'K1O 0B1'],
  ['a digit for a letter', 'K1A 001'],
  ['five characters', 'K1A 0B'],
  ['seven characters', 'K1A 0B12'],
  ['no text', ''],
  ...['D', 'F', 'I', 'O', 'Q', 'U', 'W', 'Z'].map((it) => [`${it} first`, `${it}1A 0B1`]),
  ...['D', 'F', 'I', 'O', 'Q', 'U'].flatMap((it) => [
    [`${it} third`, `K1${it} 0B1`],
    [`${it} fifth`, `K1A 0${it}1`],
  ]),
])('%s is no postal code (%s)', (_, text) => {
  expect(parsePostalCode(text)).toBeUndefined();
});

test.each([
  ['A1C 5S7', 'NL'],
  ['B3H 4R2', 'NS'],
  ['C1A 4P3', 'PE'],
  ['E3B 5A3', 'NB'],
  ['G1R 4P5', 'QC'],
  ['H3G 1H9', 'QC'],
  ['J8X 2K1', 'QC'],
  ['K1P 5G4', 'ON'],
  ['L5B 3C1', 'ON'],
  ['M5V 3L9', 'ON'],
  ['N6A 3K7', 'ON'],
  ['P3E 5J1', 'ON'],
  ['R3C 4T3', 'MB'],
  ['S4P 3Y2', 'SK'],
  ['T5J 2R7', 'AB'],
  ['V6B 4Y8', 'BC'],
  ['Y1A 1B2', 'YT'],
])('the postal code %s is in %s', (code, province) => {
  expect(provincesOf(code)).toEqual([province]);
});

test('a postal code that begins with X is in the Northwest Territories or in Nunavut', () => {
  expect(provincesOf('X0A 0H0')).toEqual(['NT', 'NU']);
});

test('a postal code of the federal government is in Ontario, or in Quebec', () => {
  expect(provincesOf('K1A 0S5')).toEqual(['ON', 'QC']);
});
