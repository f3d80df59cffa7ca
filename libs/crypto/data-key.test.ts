import { createSecretKey, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DataKey } from './data-key.ts';
import { readKeyId, rewrap, type SealContext, SealError, seal } from './envelope.ts';
import { KeyRing } from './key-ring.ts';

const K1 = `k1:${randomBytes(32).toString('base64')}`;
const K2 = `k2:${randomBytes(32).toString('base64')}`;
const RING = KeyRing.parse(K1);
const KEY_PLACE: SealContext = { table: 'keys', column: 'sealed', row: 'k', tenant: 't1' };
const PLACE: SealContext = { table: 'files', column: 'sealed', row: 'f', tenant: 't1' };
const PLAINTEXT = Buffer.from('{"hitType":"HIT"}');

const aKey = () => DataKey.open(RING, DataKey.generateStored(RING, KEY_PLACE), KEY_PLACE);

test('a field sealed with a data key is unsealed with the same key in the same place', () => {
  const key = aKey();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (plaintext) => {
      expect(key.unseal(key.seal(plaintext, PLACE), PLACE)).toEqual(Buffer.from(plaintext));
    }),
  );
});

test('a field in another place, or with another data key, does not open', () => {
  const key = aKey();
  const sealed = key.seal(PLAINTEXT, PLACE);
  for (const part of ['table', 'column', 'row', 'tenant'] as const) {
    expect(() => key.unseal(sealed, { ...PLACE, [part]: 'other' })).toThrow(SealError);
  }
  expect(() => aKey().unseal(sealed, PLACE)).toThrow(SealError);
});

test('a field with any bit flipped, or truncated to any length, does not open', () => {
  const key = aKey();
  const sealed = key.seal(PLAINTEXT, PLACE);
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    const flipped = Buffer.from(sealed);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(() => key.unseal(flipped, PLACE), `bit ${bit}`).toThrow(SealError);
  }
  for (let length = 0; length < sealed.length; length += 1) {
    expect(() => key.unseal(sealed.subarray(0, length), PLACE)).toThrow(SealError);
  }
});

test('a short tag that AES-GCM allows does not open', () => {
  const key = aKey();
  const empty = key.seal(Buffer.alloc(0), PLACE);
  for (const tagBytes of [4, 8, 12, 13, 14, 15]) {
    const shortened = empty.subarray(0, empty.length - 16 + tagBytes);
    expect(() => key.unseal(shortened, PLACE)).toThrow(SealError);
  }
});

test('a stored key opens in its own place only, and after a rotation without the old key', () => {
  const stored = DataKey.generateStored(RING, KEY_PLACE);
  const sealed = DataKey.open(RING, stored, KEY_PLACE).seal(PLAINTEXT, PLACE);
  expect(() => DataKey.open(RING, stored, { ...KEY_PLACE, tenant: 't2' })).toThrow(SealError);
  const rewrapped = rewrap(KeyRing.parse(`${K2},${K1}`), stored, KEY_PLACE);
  expect(readKeyId(rewrapped)).toBe('k2');
  const opened = DataKey.open(KeyRing.parse(K2), rewrapped, KEY_PLACE);
  expect(opened.unseal(sealed, PLACE)).toEqual(PLAINTEXT);
});

test('a sealed field that is no key is refused as one', () => {
  const stored = seal(RING, Buffer.from('short'), KEY_PLACE);
  expect(() => DataKey.open(RING, stored, KEY_PLACE)).toThrow(SealError);
});

test('a printed data key shows no byte of the key', () => {
  const printed = inspect(aKey(), { depth: null, showHidden: true });
  expect(printed).not.toMatch(/[0-9a-f]{16}/i);
});

test('a derived key opens what the same secret and purpose have sealed, and no other', () => {
  const [secret, other] = [randomBytes(32), randomBytes(32)].map((it) => createSecretKey(it));
  if (secret === undefined || other === undefined) throw new Error('there are two');
  const sealed = DataKey.derive(secret, 'purpose').seal(PLAINTEXT, PLACE);
  expect(DataKey.derive(secret, 'purpose').unseal(sealed, PLACE)).toEqual(PLAINTEXT);
  expect(() => DataKey.derive(secret, 'another').unseal(sealed, PLACE)).toThrow(SealError);
  expect(() => DataKey.derive(other, 'purpose').unseal(sealed, PLACE)).toThrow(SealError);
});

/** Every later release must still derive this key. */
test('a field that an earlier release sealed with a derived key is unsealed', () => {
  const secret = createSecretKey(Buffer.alloc(32, 7));
  const sealed = Buffer.from(
    'AjYkM5FjbZ52MfxPw1GeNrbnlvg0Zp6frbFJUa+X+vCNPa/gA7mSr1YEU3V/yw==',
    'base64',
  );
  expect(DataKey.derive(secret, 'purpose').unseal(sealed, PLACE)).toEqual(PLAINTEXT);
});

/** Sealed with version 2. Every later format must still unseal this value. */
test('a field that an earlier release sealed with a data key is unsealed', () => {
  const ring = KeyRing.parse(`2026-01:${Buffer.alloc(32, 7).toString('base64')}`);
  const stored = Buffer.from(
    'AQcyMDI2LTAxAn9+SA2SVK7saovat3j3uOl9mbxkcMXD6Idn433lbTdCG0WheIEspe2LDjmClZaIlubo8uDcV8K5IbFoakzRwxvShCQSPFIIu0IsVG0Lvo/9zeeNZCmD82eAmpGiOSA3wcW3XSV1OOdKWrd8U9OnfUA8vXcRpKqh',
    'base64',
  );
  const sealed = Buffer.from(
    'AqwdhnUcAMtmCgRlURG2TTblUTnea9RhF+FnwOsiJb2SFX4I6amu6sIH9IxEAA==',
    'base64',
  );
  expect(DataKey.open(ring, stored, KEY_PLACE).unseal(sealed, PLACE)).toEqual(PLAINTEXT);
});
