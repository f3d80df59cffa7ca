import { expect, test } from 'vitest';
import { readRetryToken } from './call-metadata.ts';

test('a retry token is read in lower case, and one that is no UUID is none', () => {
  const token = '0198c0de-0000-7000-8000-00000000abcd';
  expect(readRetryToken(() => token.toUpperCase())).toBe(token);
  expect(readRetryToken(() => 'another')).toBeUndefined();
});
