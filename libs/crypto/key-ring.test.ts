import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { KeyRing, KeyRingError } from './key-ring.ts';

const KEY = randomBytes(32).toString('base64');
const OTHER_KEY = randomBytes(32).toString('base64');
const DATA_KEY = randomBytes(32);
const AAD = Buffer.from('place');

test('the first key wraps, and every key unwraps', () => {
  const old = KeyRing.parse(`k1:${KEY}`);
  const rotated = KeyRing.parse(`k2:${OTHER_KEY}, k1:${KEY}`);
  expect(rotated.currentId).toBe('k2');
  expect(rotated.wrap(DATA_KEY, AAD).keyId).toBe('k2');
  expect(rotated.unwrap(old.wrap(DATA_KEY, AAD), AAD)).toEqual(DATA_KEY);
  expect(rotated.unwrap(rotated.wrap(DATA_KEY, AAD), AAD)).toEqual(DATA_KEY);
});

test('a wrapped key is unwrapped only with its own id and associated data', () => {
  const ring = KeyRing.parse(`k2:${OTHER_KEY},k1:${KEY}`);
  const wrappedKey = ring.wrap(DATA_KEY, AAD);
  expect(ring.unwrap(wrappedKey, Buffer.from('other place'))).toBeUndefined();
  expect(ring.unwrap({ ...wrappedKey, keyId: 'k1' }, AAD)).toBeUndefined();
  expect(ring.unwrap({ ...wrappedKey, keyId: 'k3' }, AAD)).toBeUndefined();
});

test.each([
  ['', 'entry 1 does not start with an id and a colon'],
  [KEY, 'entry 1 does not start with an id and a colon'],
  [`k1:${KEY},`, 'entry 2 does not start with an id and a colon'],
  [`k 1:${KEY}`, 'entry 1 does not start with an id and a colon'],
  [`k1:${Buffer.alloc(16).toString('base64')}`, 'key k1 is not 32 bytes of base64'],
  [`k1:${'a'.repeat(64)}`, 'key k1 is not 32 bytes of base64'],
  [`k1:${KEY},k1:${OTHER_KEY}`, 'the id k1 is listed twice'],
  [`k1:${KEY},k2:${KEY}`, 'k1 and k2 are the same key'],
])('the ring "%s" is not valid, and the error quotes no key', (text, message) => {
  expect(() => KeyRing.parse(text)).toThrow(new KeyRingError(message));
});

test('a printed ring shows no key', () => {
  const ring = KeyRing.parse(`k1:${KEY}`);
  const printed = inspect(ring, { depth: null, showHidden: true }) + JSON.stringify(ring);
  expect(printed).not.toContain(KEY);
  expect(printed).not.toContain(Buffer.from(KEY, 'base64').toString('hex').slice(0, 8));
});
