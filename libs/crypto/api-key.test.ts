import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { digestApiKey, generateApiKey, isWellFormedApiKey } from './api-key.ts';

test('a generated key has the prefix of its kind and is well formed', () => {
  expect(generateApiKey(true)).toMatch(/^cl_live_[0-9A-Za-z]{38}$/);
  expect(generateApiKey(false)).toMatch(/^cl_test_[0-9A-Za-z]{38}$/);
  fc.assert(fc.property(fc.boolean(), (live) => isWellFormedApiKey(generateApiKey(live))));
});

test('keys are unique and use the whole alphabet', () => {
  const keys = Array.from({ length: 500 }, () => generateApiKey(true));
  expect(new Set(keys).size).toBe(keys.length);
  const characters = new Set(keys.map((key) => key.slice(8, 40)).join(''));
  expect(characters.size).toBe(62);
});

test('a key with one character mistyped is not well formed', () => {
  const position = fc.integer({ min: 0, max: 45 });
  const character = fc.constantFrom(...'abcxyzABCXYZ0189_- é');
  fc.assert(
    fc.property(position, character, (at, typed) => {
      const key = generateApiKey(true);
      fc.pre(key.charAt(at) !== typed);
      expect(isWellFormedApiKey(key.slice(0, at) + typed + key.slice(at + 1))).toBe(false);
    }),
  );
});

test('a live key with the prefix of a test key is not well formed', () => {
  expect(isWellFormedApiKey(generateApiKey(true).replace('cl_live_', 'cl_test_'))).toBe(false);
});

test('other texts are not well formed', () => {
  const key = generateApiKey(true);
  for (const text of [
    '',
    ' ',
    key.slice(0, -1),
    `${key}a`,
    `${key}\n`,
    ` ${key}`,
    `Bearer ${key}`,
  ]) {
    expect(isWellFormedApiKey(text)).toBe(false);
  }
  fc.assert(fc.property(fc.string(), (text) => !isWellFormedApiKey(text)));
});

test('the digest is the SHA-256 of the key', () => {
  const key = generateApiKey(false);
  expect(digestApiKey(key)).toEqual(createHash('sha256').update(key).digest());
});
