import { describe, expect, test } from 'vitest';
import { maskSin, parseSin } from './sin.ts';

describe('a social insurance number', () => {
  test.each(['046454286', '046-454-286', '046 454 286', ' 046454286 '])(
    'written as %j is accepted',
    (text) => expect(parseSin(text)).toBe('046454286'),
  );

  test.each([
    ['a digit too few', '04645428'],
    ['a digit too many', '0464542860'],
    ['a wrong check digit', '046454287'],
    ['two digits swapped', '064454286'],
    ['letters', '04645428A'],
    ['digits of another script', '٠٤٦٤٥٤٢٨٦'],
    ['zeros', '000000000'],
    ['no digits', ''],
  ])('with %s is refused', (_, text) => expect(parseSin(text)).toBeUndefined());

  test('is masked to its last three digits', () => {
    expect(maskSin('046454286')).toBe('***-***-286');
    expect(maskSin('')).toBe('');
  });
});
