import { expect, test } from 'vitest';
import { positionOnScale } from './score-scale.ts';

test('a score from 300 to 900 has a place on the range, and any other has none', () => {
  expect(positionOnScale(300)).toBe(0);
  expect(positionOnScale(600)).toBe(0.5);
  expect(positionOnScale(900)).toBe(1);
  expect(positionOnScale(299)).toBeUndefined();
  expect(positionOnScale(901)).toBeUndefined();
});
