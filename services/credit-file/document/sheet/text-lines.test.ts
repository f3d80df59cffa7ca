import { describe, expect, test } from 'vitest';
import { breakLines, fitLine } from './text-lines.ts';

/** Every character is one wide. */
const widthOf = (text: string) => text.length;

describe('lines', () => {
  const lines = (text: string, width: number) => breakLines(text, width, widthOf);

  test('are broken at spaces', () => {
    expect(lines('one two three', 7)).toEqual(['one two', 'three']);
  });

  test('are broken after hyphens and slashes', () => {
    expect(lines('Lefebvre-Gagnon', 10)).toEqual(['Lefebvre-', 'Gagnon']);
    expect(lines('and/or', 4)).toEqual(['and/', 'or']);
  });

  test('break a word that is wider than a line', () => {
    expect(lines('ab cdefghij kl', 4)).toEqual(['ab', 'cdef', 'ghij', 'kl']);
  });

  test('keep every character of a text, however long a word is', () => {
    const text = `${'x'.repeat(1000)} ${'/-'.repeat(300)} end`;
    const broken = lines(text, 9);
    expect(broken.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
    expect(Math.max(...broken.map(widthOf))).toBe(9);
  });

  test('do not split a surrogate pair', () => {
    expect(lines('😀'.repeat(3), 3).every((line) => line.isWellFormed())).toBe(true);
  });

  test('of an empty text are none', () => {
    expect(lines('', 5)).toEqual([]);
    expect(lines('   ', 5)).toEqual([]);
  });
});

describe('a text in one line', () => {
  test('that fits stays as it is', () => {
    expect(fitLine('abc', 3, widthOf)).toBe('abc');
  });

  test('that is too wide ends with an ellipsis', () => {
    expect(fitLine('abcdef', 4, widthOf)).toBe('abc…');
  });
});
