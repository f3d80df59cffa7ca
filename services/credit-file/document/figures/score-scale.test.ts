import { expect, test } from 'vitest';
import { parseScore, positionOnScale } from './score-scale.ts';

test('a score is a number, which bureaus pad with zeros', () => {
  expect(parseScore('00686')).toBe(686);
  expect(parseScore(' 701 ')).toBe(701);
});

test('a text that is no number is no score', () => {
  for (const text of [undefined, '', 'N/A', '6.8', '-5']) expect(parseScore(text)).toBeUndefined();
});

test('a score from 300 to 900 has a place on the range, and any other has none', () => {
  expect(positionOnScale(300)).toBe(0);
  expect(positionOnScale(600)).toBe(0.5);
  expect(positionOnScale(900)).toBe(1);
  expect(positionOnScale(299)).toBeUndefined();
  expect(positionOnScale(901)).toBeUndefined();
});
