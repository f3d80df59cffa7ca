import { expect, test } from 'vitest';
import { hasGlyph } from './fonts.ts';
import { printable } from './printable.ts';

const print = (text: string) => printable(text, hasGlyph);

test('accents of French and of names of Indigenous and European languages are printed', () => {
  for (const text of [
    'Éloïse Côté-Bœuf',
    'Štefan Łukasiewicz',
    'Ђорђевић',
    'Παπαδόπουλος',
    'ʔesdilagh',
  ]) {
    expect(print(text)).toBe(text);
  }
});

test('letters with separate accents are composed', () => {
  expect(print('E\u0301loi\u0308se')).toBe('Éloïse');
});

test('control characters and characters that change the direction are dropped', () => {
  expect(print('a\u0000b\u001b[31mc\u202eevil\u2066\u200b')).toBe('ab[31mcevil');
});

test('line breaks, tabs and runs of spaces become one space', () => {
  expect(print(' a\r\n\n\tb   c\u2028d ')).toBe('a b c d');
});

test('no-break spaces of amounts stay', () => {
  expect(print('12\u00a0345\u202f$')).toBe('12\u00a0345\u202f$');
});

test('a character that the font lacks becomes a sign, an emoji of several characters one', () => {
  expect(print('a😀b')).toBe('a□b');
  expect(print('👍🏽')).toBe('□');
  expect(print('שלום')).toBe('□□□□');
  expect(print('\ud800x')).toBe('□x');
});
