import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  readKeyId,
  rewrap,
  type SealContext,
  SealError,
  type SealFailure,
  seal,
  UnknownKeyError,
  unseal,
} from './envelope.ts';
import { KeyRing, parseKeyRing } from './key-ring.ts';

const K1 = `k1:${randomBytes(32).toString('base64')}`;
const K2 = `k2:${randomBytes(32).toString('base64')}`;
const OLD_RING = KeyRing.parse(K1);
const BOTH_RING = KeyRing.parse(`${K2},${K1}`);
const NEW_RING = KeyRing.parse(K2);

const CONTEXT: SealContext = { table: 'applicants', column: 'sin', row: 'r1', tenant: 't1' };
const PLAINTEXT = Buffer.from('046454286');

const plaintexts = () => fc.uint8Array({ maxLength: 300 });
const contexts = () =>
  fc.record({ table: fc.string(), column: fc.string(), row: fc.string(), tenant: fc.string() });

function failureOf(use: () => unknown): SealFailure | 'unknown_key' | undefined {
  try {
    use();
  } catch (error) {
    if (error instanceof SealError) return error.failure;
    if (error instanceof UnknownKeyError) return 'unknown_key';
    throw error;
  }
  return undefined;
}

test('a sealed field is unsealed in its place', () => {
  fc.assert(
    fc.property(plaintexts(), contexts(), (plaintext, context) => {
      const sealed = seal(OLD_RING, plaintext, context);
      expect(unseal(OLD_RING, sealed, context)).toEqual(Buffer.from(plaintext));
    }),
  );
});

test('in another table, column, row or tenant: not_authentic', () => {
  const sealed = seal(OLD_RING, PLAINTEXT, CONTEXT);
  for (const part of ['table', 'column', 'row', 'tenant'] as const) {
    const elsewhere = { ...CONTEXT, [part]: 'other' };
    expect(failureOf(() => unseal(OLD_RING, sealed, elsewhere))).toBe('not_authentic');
    expect(failureOf(() => rewrap(BOTH_RING, sealed, elsewhere))).toBe('not_authentic');
  }
});

test('in a place whose parts concatenate to the same text: not_authentic', () => {
  fc.assert(
    fc.property(contexts(), contexts(), (one, other) => {
      fc.pre(JSON.stringify(one) !== JSON.stringify(other));
      const sealed = seal(OLD_RING, PLAINTEXT, one);
      expect(failureOf(() => unseal(OLD_RING, sealed, other))).toBe('not_authentic');
    }),
  );
  const sealed = seal(OLD_RING, PLAINTEXT, { ...CONTEXT, row: 'a', tenant: 'bc' });
  const recut = { ...CONTEXT, row: 'ab', tenant: 'c' };
  expect(failureOf(() => unseal(OLD_RING, sealed, recut))).toBe('not_authentic');
});

test('whose key the ring loses while the field is unsealed: unknown_key, for the ring may get the key again', () => {
  const sealed = seal(OLD_RING, PLAINTEXT, CONTEXT);
  for (const readsWithKey of [0, 1]) {
    let reads = 0;
    const ring = new KeyRing(() => parseKeyRing(reads++ < readsWithKey ? K1 : K2));
    const failure = failureOf(() => unseal(ring, sealed, CONTEXT));
    expect(failure).toBe(readsWithKey === 0 ? 'unknown_key' : undefined);
  }
});

test('with any single bit flipped, unseal throws', () => {
  const sealed = seal(BOTH_RING, PLAINTEXT, CONTEXT);
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    const flipped = Buffer.from(sealed);
    const at = bit >> 3;
    flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << (bit & 7)), at);
    expect(
      failureOf(() => unseal(BOTH_RING, flipped, CONTEXT)),
      `bit ${bit}`,
    ).toBeDefined();
  }
});

test('truncated to any length, unseal throws', () => {
  const sealed = seal(OLD_RING, PLAINTEXT, CONTEXT);
  for (let length = 0; length < sealed.length; length += 1) {
    const cut = sealed.subarray(0, length);
    expect(
      failureOf(() => unseal(OLD_RING, cut, CONTEXT)),
      `${length} bytes`,
    ).toBeDefined();
  }
});

test('a shorter tag that AES-GCM allows: malformed', () => {
  const sealed = seal(OLD_RING, Buffer.alloc(0), CONTEXT);
  for (const tagBytes of [4, 8, 12, 13, 14, 15]) {
    const shortened = sealed.subarray(0, sealed.length - 16 + tagBytes);
    expect(failureOf(() => unseal(OLD_RING, shortened, CONTEXT))).toBe('malformed');
  }
  const long = seal(OLD_RING, PLAINTEXT, CONTEXT);
  expect(failureOf(() => unseal(OLD_RING, long.subarray(0, -12), CONTEXT))).toBeDefined();
});

test('with a byte appended: not_authentic', () => {
  const sealed = Buffer.concat([seal(OLD_RING, PLAINTEXT, CONTEXT), Buffer.from([0])]);
  expect(failureOf(() => unseal(OLD_RING, sealed, CONTEXT))).toBe('not_authentic');
});

test('with the data key of another record of the same place: not_authentic', () => {
  const one = seal(OLD_RING, PLAINTEXT, CONTEXT);
  const other = seal(OLD_RING, PLAINTEXT, CONTEXT);
  const fieldAt = one.length - PLAINTEXT.length - 28;
  const spliced = Buffer.concat([one.subarray(0, fieldAt), other.subarray(fieldAt)]);
  expect(failureOf(() => unseal(OLD_RING, spliced, CONTEXT))).toBe('not_authentic');
});

test('with a key that the ring lacks: unknown_key', () => {
  const sealed = seal(NEW_RING, PLAINTEXT, CONTEXT);
  expect(failureOf(() => unseal(OLD_RING, sealed, CONTEXT))).toBe('unknown_key');
  expect(failureOf(() => rewrap(OLD_RING, sealed, CONTEXT))).toBe('unknown_key');
});

test('with another key under the same id: not_authentic', () => {
  const sealed = seal(OLD_RING, PLAINTEXT, CONTEXT);
  const impostor = KeyRing.parse(`k1:${randomBytes(32).toString('base64')}`);
  expect(failureOf(() => unseal(impostor, sealed, CONTEXT))).toBe('not_authentic');
});

test('unseal of bytes that were never sealed throws', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(failureOf(() => unseal(OLD_RING, bytes, CONTEXT))).toBeDefined();
    }),
  );
  for (const bytes of [Buffer.alloc(0), Buffer.from([1]), Buffer.alloc(200)]) {
    expect(failureOf(() => readKeyId(bytes))).toBe('malformed');
  }
});

test('two seals of one plaintext differ after the key id, and do not contain the plaintext', () => {
  const one = seal(OLD_RING, PLAINTEXT, CONTEXT);
  const other = seal(OLD_RING, PLAINTEXT, CONTEXT);
  const headBytes = 2 + 'k1'.length;
  expect(one.subarray(headBytes).equals(other.subarray(headBytes))).toBe(false);
  expect(one.includes(PLAINTEXT)).toBe(false);
});

test('rewrap changes the key id, keeps the plaintext, and no longer needs the old key', () => {
  fc.assert(
    fc.property(plaintexts(), contexts(), (plaintext, context) => {
      const sealed = seal(OLD_RING, plaintext, context);
      const rewrapped = rewrap(BOTH_RING, sealed, context);
      expect([readKeyId(sealed), readKeyId(rewrapped)]).toEqual(['k1', 'k2']);
      expect(unseal(NEW_RING, rewrapped, context)).toEqual(Buffer.from(plaintext));
      expect(failureOf(() => unseal(OLD_RING, rewrapped, context))).toBe('unknown_key');
    }),
  );
});

test('a changed field is still not_authentic after rewrap', () => {
  const sealed = seal(OLD_RING, PLAINTEXT, CONTEXT);
  const last = sealed.length - 1;
  sealed.writeUInt8(sealed.readUInt8(last) ^ 1, last);
  const rewrapped = rewrap(BOTH_RING, sealed, CONTEXT);
  expect(failureOf(() => unseal(NEW_RING, rewrapped, CONTEXT))).toBe('not_authentic');
});

test('a view of a larger buffer, as database drivers return it, is unsealed', () => {
  const sealed = seal(OLD_RING, PLAINTEXT, CONTEXT);
  const around = new Uint8Array(sealed.length + 10);
  around.set(sealed, 7);
  const window = around.subarray(7, 7 + sealed.length);
  expect(unseal(OLD_RING, window, CONTEXT)).toEqual(PLAINTEXT);
});

/** Sealed with version 1. Every later format must still unseal this value. */
test('a field that an earlier release sealed is unsealed', () => {
  const ring = KeyRing.parse(`2026-01:${Buffer.alloc(32, 7).toString('base64')}`);
  const sealed = Buffer.from(
    'AQcyMDI2LTAxym1L07aXFTey5fjN+nUc1Qyr6JueWenvKNs0v6vjzBDWQbGMpN33rDHIIuV/aqgzSP45twpdXsr/H8Q3DkfxRcUhpztTZY43FZRZ/EfyLALW8AoxGZt3FiG75v6wfV/KFw==',
    'base64',
  );
  expect(readKeyId(sealed)).toBe('2026-01');
  expect(unseal(ring, sealed, CONTEXT)).toEqual(PLAINTEXT);
});
