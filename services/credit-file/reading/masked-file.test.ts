import { expect, test } from 'vitest';
import { maskSin } from './masked-file.ts';

test('a number shows its last three digits, whether it was masked before or not', () => {
  expect(maskSin('046454286')).toBe('***-***-286');
  expect(maskSin('046 454 286')).toBe('***-***-286');
  expect(maskSin('***-***-286')).toBe('***-***-286');
});

test('a text of fewer than three digits shows none of them', () => {
  expect(maskSin('12')).toBe('***-***-***');
  expect(maskSin('')).toBe('***-***-***');
});
