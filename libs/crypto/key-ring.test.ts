import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { KeyRing, KeyRingError, parseKeyRing, type RingKeys } from './key-ring.ts';

const KEY = randomBytes(32).toString('base64');
const OTHER_KEY = randomBytes(32).toString('base64');
const DATA_KEY = randomBytes(32);
const AAD = Buffer.from('place');

test('the first key wraps, and every key unwraps', () => {
  const old = KeyRing.parse(`k1:${KEY}`);
  const rotated = KeyRing.parse(`k2:${OTHER_KEY}, k1:${KEY}`);
  expect(rotated.currentId).toBe('k2');
  expect(rotated.wrap(DATA_KEY, () => AAD).keyId).toBe('k2');
  expect(
    rotated.unwrap(
      old.wrap(DATA_KEY, () => AAD),
      AAD,
    ),
  ).toEqual(DATA_KEY);
  expect(
    rotated.unwrap(
      rotated.wrap(DATA_KEY, () => AAD),
      AAD,
    ),
  ).toEqual(DATA_KEY);
});

test('a wrapped key is unwrapped only with its own id and associated data', () => {
  const ring = KeyRing.parse(`k2:${OTHER_KEY},k1:${KEY}`);
  const wrappedKey = ring.wrap(DATA_KEY, () => AAD);
  expect(ring.unwrap(wrappedKey, Buffer.from('other place'))).toBe('not_authentic');
  expect(ring.unwrap({ ...wrappedKey, keyId: 'k1' }, AAD)).toBe('not_authentic');
  expect(ring.unwrap({ ...wrappedKey, keyId: 'k3' }, AAD)).toBe('unknown_key');
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
  [`k1:${KEY}:`, 'key k1 has a date that is no calendar date, written yyyy-MM-dd'],
  [`k1:${KEY}:2026-02-30`, 'key k1 has a date that is no calendar date, written yyyy-MM-dd'],
  [
    `k1:${KEY}:2026-03-01:k2:${OTHER_KEY}`,
    'key k1 has a date that is no calendar date, written yyyy-MM-dd',
  ],
])('the ring "%s" is not valid, and the error quotes no key', (text, message) => {
  expect(() => KeyRing.parse(text)).toThrow(new KeyRingError(message));
});

test('the ring knows when a key was made whose entry has a date, and uses the others, too', () => {
  const ring = KeyRing.parse(`k2:${OTHER_KEY}:2026-03-01,k1:${KEY}`);
  expect(ring.madeAt).toEqual(new Map([['k2', new Date('2026-03-01T00:00:00Z')]]));
  expect([ring.currentId, ring.has('k1')]).toEqual(['k2', true]);
});

test('a printed ring shows no key', () => {
  const ring = KeyRing.parse(`k1:${KEY}`);
  const printed = inspect(ring, { depth: null, showHidden: true }) + JSON.stringify(ring);
  expect(printed).not.toContain(KEY);
  expect(printed).not.toContain(Buffer.from(KEY, 'base64').toString('hex').slice(0, 8));
});

test('a ring that follows its file asks for the file again before it says that a key is unknown', () => {
  let [known, file] = [parseKeyRing(`k1:${KEY}`), parseKeyRing(`k1:${KEY}`)];
  const ring = new KeyRing((isOutdated) => {
    if (isOutdated?.(known)) known = file;
    return known;
  });
  const wrapped = KeyRing.parse(`k2:${OTHER_KEY}`).wrap(DATA_KEY, () => AAD);
  expect([ring.has('k2'), ring.unwrap(wrapped, AAD)]).toEqual([false, 'unknown_key']);
  file = parseKeyRing(`k1:${KEY},k2:${OTHER_KEY}`);
  expect(ring.wrap(DATA_KEY, () => AAD).keyId).toBe('k1');
  expect(ring.unwrap(wrapped, AAD)).toEqual(DATA_KEY);
});

test('a data key is bound to the id of the key that has wrapped it, whenever the ring gets another one', () => {
  const rings = [`k1:${KEY},k2:${OTHER_KEY}`, `k2:${OTHER_KEY},k1:${KEY}`].map(parseKeyRing);
  let reads = 0;
  const ring = new KeyRing(() => rings[reads++ % 2] as RingKeys);
  for (let times = 0; times < 4; times += 1) {
    const wrapped = ring.wrap(DATA_KEY, (keyId) => Buffer.from(keyId));
    expect(ring.unwrap(wrapped, Buffer.from(wrapped.keyId))).toEqual(DATA_KEY);
  }
});
