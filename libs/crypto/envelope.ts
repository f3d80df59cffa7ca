/**
 * Envelope encryption of one record's field: a data key of its own for each record, wrapped by a
 * key-encryption key from the ring. Both layers are AES-256-GCM and both are bound to the place the
 * record lives in, so a ciphertext copied to another row or tenant does not open there.
 *
 * Version 1, in bytes:
 *
 *     version (1) = 0x01
 *     key id's length (1) ‖ key id (ASCII)
 *     wrapped data key (60): nonce (12) ‖ encrypted key (32) ‖ tag (16)
 *     sealed field:          nonce (12) ‖ ciphertext         ‖ tag (16)
 *
 * Associated data are, each after its length in 4 bytes: the layer's name, table, column, row and
 * tenant; for the wrapped key also its key id.
 */
import { createSecretKey, randomBytes } from 'node:crypto';
import { decrypt, encrypt, OVERHEAD_BYTES } from './aes-gcm.ts';
import type { KeyRing, WrappedKey } from './key-ring.ts';

const VERSION = 1;
const DATA_KEY_BYTES = 32;
const WRAPPED_KEY_BYTES = DATA_KEY_BYTES + OVERHEAD_BYTES;

/** The place a sealed field lives in. It opens nowhere else. */
export interface SealContext {
  table: string;
  column: string;
  row: string;
  tenant: string;
}

/** Why something sealed does not open. */
export type SealFailure = 'malformed' | 'unknown_key' | 'not_authentic';

const FAILURE_TEXT: Record<SealFailure, string> = {
  malformed: 'it is not in a known format',
  unknown_key: 'the key ring lacks its key',
  not_authentic: 'it was changed, or sealed for another place or with another key',
};

/** Something sealed does not open; nothing of it is in the message. */
export class SealError extends Error {
  override readonly name = 'SealError';
  readonly loggable = true;
  readonly failure: SealFailure;

  constructor(failure: SealFailure) {
    super(`cannot open what was sealed: ${FAILURE_TEXT[failure]}`);
    this.failure = failure;
  }
}

/** Encrypts `plaintext` for this one place, under a new data key. */
export function seal(ring: KeyRing, plaintext: Uint8Array, context: SealContext): Buffer {
  const dataKey = randomBytes(DATA_KEY_BYTES);
  try {
    const field = encrypt(createSecretKey(dataKey), plaintext, fieldAad(context));
    return write(wrap(ring, dataKey, context), field);
  } finally {
    dataKey.fill(0);
  }
}

/**
 * Gives back what was sealed.
 * @throws {SealError} unless it is unchanged, from this place, and its key is on the ring.
 */
export function unseal(ring: KeyRing, sealed: Uint8Array, context: SealContext): Buffer {
  const { wrappedKey, field } = read(sealed);
  const dataKey = unwrap(ring, wrappedKey, context);
  try {
    const plaintext = decrypt(createSecretKey(dataKey), field, fieldAad(context));
    if (plaintext === undefined) throw new SealError('not_authentic');
    return plaintext;
  } finally {
    dataKey.fill(0);
  }
}

/**
 * Wraps the data key again with the ring's current key. The field itself stays as it is, so a
 * rotation reads no plaintext.
 * @throws {SealError} as `open` does, except that a changed field goes unnoticed until it is opened.
 */
export function rewrap(ring: KeyRing, sealed: Uint8Array, context: SealContext): Buffer {
  const { wrappedKey, field } = read(sealed);
  const dataKey = unwrap(ring, wrappedKey, context);
  try {
    return write(wrap(ring, dataKey, context), field);
  } finally {
    dataKey.fill(0);
  }
}

/**
 * The id of the key that wraps this record's data key.
 * @throws {SealError} when it is not in a known format.
 */
export function readKeyId(sealed: Uint8Array): string {
  return read(sealed).wrappedKey.keyId;
}

/** The bytes with which all begins that was sealed with this key, and nothing else: to find it by. */
export function sealedPrefix(keyId: string): Buffer {
  return Buffer.concat([Buffer.from([VERSION, keyId.length]), Buffer.from(keyId, 'ascii')]);
}

function wrap(ring: KeyRing, dataKey: Uint8Array, context: SealContext): WrappedKey {
  return ring.wrap(dataKey, keyAad(context, ring.currentId));
}

function unwrap(ring: KeyRing, wrappedKey: WrappedKey, context: SealContext): Buffer {
  if (!ring.has(wrappedKey.keyId)) throw new SealError('unknown_key');
  const dataKey = ring.unwrap(wrappedKey, keyAad(context, wrappedKey.keyId));
  if (dataKey === undefined) throw new SealError('not_authentic');
  return dataKey;
}

function write({ keyId, wrapped }: WrappedKey, field: Uint8Array): Buffer {
  return Buffer.concat([sealedPrefix(keyId), wrapped, field]);
}

function read(sealed: Uint8Array): { wrappedKey: WrappedKey; field: Buffer } {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const [version, idLength = 0] = bytes;
  const keyAt = 2 + idLength;
  const fieldAt = keyAt + WRAPPED_KEY_BYTES;
  if (version !== VERSION || idLength === 0 || bytes.length < fieldAt + OVERHEAD_BYTES) {
    throw new SealError('malformed');
  }
  const keyId = bytes.toString('latin1', 2, keyAt);
  return {
    wrappedKey: { keyId, wrapped: bytes.subarray(keyAt, fieldAt) },
    field: bytes.subarray(fieldAt),
  };
}

function fieldAad({ table, column, row, tenant }: SealContext): Buffer {
  return associatedData('field', table, column, row, tenant);
}

function keyAad({ table, column, row, tenant }: SealContext, keyId: string): Buffer {
  return associatedData('key', table, column, row, tenant, keyId);
}

/** Lengths make the encoding unambiguous: no two lists of parts share it. */
function associatedData(...parts: string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const text = Buffer.from(part, 'utf8');
      const length = Buffer.alloc(4);
      length.writeUInt32BE(text.length);
      return [length, text];
    }),
  );
}
