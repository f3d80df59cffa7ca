/**
 * Envelope encryption of one field of a record: each record has a data key of its own, which is wrapped
 * by a key-encryption key of the key ring. Both layers are AES-256-GCM, and both are bound to the place of
 * the record, so that a ciphertext cannot be decrypted after it is copied to another row or tenant.
 *
 * Version 1, in bytes:
 *
 *     version (1) = 0x01
 *     key id's length (1) ‖ key id (ASCII)
 *     wrapped data key (60): nonce (12) ‖ encrypted key (32) ‖ tag (16)
 *     sealed field:          nonce (12) ‖ ciphertext         ‖ tag (16)
 *
 * The associated data are the name of the layer, table, column, row and tenant, for the wrapped key also
 * its key id, each after its length in 4 bytes.
 */
import { createSecretKey, randomBytes } from 'node:crypto';
import { Fault } from '@creditlane/rpc/fault';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import { decrypt, encrypt, OVERHEAD_BYTES } from './aes-gcm.ts';
import { associatedData } from './associated-data.ts';
import { type KeyRing, MAX_KEY_ID_CHARACTERS, type WrappedKey } from './key-ring.ts';

const VERSION = 1;
const DATA_KEY_BYTES = 32;
const WRAPPED_KEY_BYTES = DATA_KEY_BYTES + OVERHEAD_BYTES;

/** The place of a sealed field. A field can be unsealed in this place only. */
export interface SealContext {
  table: string;
  column: string;
  row: string;
  tenant: string;
}

/** Why a sealed field cannot be unsealed. */
export type SealFailure = 'malformed' | 'no_data_key' | 'not_authentic';

const FAILURE_TEXT: Record<SealFailure, string> = {
  malformed: 'the format is unknown',
  no_data_key: 'its data key is missing',
  not_authentic: 'it was changed, or sealed for another place or with another key',
};

/** A sealed field cannot be unsealed, now or later. The message contains nothing of its contents. */
export class SealError extends LoggableError {
  readonly failure: SealFailure;

  constructor(failure: SealFailure) {
    super(`cannot unseal the field: ${FAILURE_TEXT[failure]}`);
    this.failure = failure;
  }
}

/**
 * The key ring lacks the key that wraps a record, or all records of a table. It may get the key: another process may
 * have the new file of the ring some minutes earlier. Until then a call is refused as one that may be repeated.
 */
export class UnknownKeyError extends Fault {
  /** @param missing the id of the key, and the table with records that it wraps, where they are known */
  constructor(missing?: { keyId: string; table: string }) {
    const key =
      missing === undefined
        ? 'the key of a record'
        : `the key ${missing.keyId}, which wraps records of ${missing.table}`;
    super('unavailable', 'unavailable', `the key ring does not contain ${key}`, { retryAfterS: 5 });
  }
}

/** Whether the error says that a record cannot be opened: at this moment, or at all. */
export function isUnsealFailure(error: unknown): error is SealError | UnknownKeyError {
  return error instanceof SealError || error instanceof UnknownKeyError;
}

/** Encrypts `plaintext` for this place, with a new data key. */
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
 * Decrypts a sealed field.
 * @throws {SealError} unless the field is unchanged and was sealed for this place
 * @throws {UnknownKeyError} while the key ring lacks its key
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
 * Wraps the data key again, with the current key of the ring. The encrypted field itself is not touched,
 * so a rotation decrypts no plaintext.
 * @throws {SealError} as `unseal` does, but not for a changed field, which only `unseal` detects.
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
 * The id of the key that wraps the data key of a sealed field.
 * @throws {SealError} when the format is unknown.
 */
export function readKeyId(sealed: Uint8Array): string {
  return read(sealed).wrappedKey.keyId;
}

/** The bytes of the longest prefix. */
export const MAX_PREFIX_BYTES = 2 + MAX_KEY_ID_CHARACTERS;

/** The first bytes of every field whose data key this key wraps, and of no other: for a query by prefix. */
export function sealedPrefix(keyId: string): Buffer {
  return Buffer.concat([Buffer.from([VERSION, keyId.length]), Buffer.from(keyId, 'ascii')]);
}

/** The least bytes that are greater than every field whose data key this key wraps. */
export function sealedPrefixEnd(keyId: string): Buffer {
  const end = sealedPrefix(keyId);
  // The last byte is one of an ASCII character.
  end[end.length - 1] = (end.at(-1) ?? 0) + 1;
  return end;
}

/**
 * The id of the key that wraps the data key, by the first `MAX_PREFIX_BYTES` of a sealed field.
 * @throws {SealError} when the format is unknown.
 */
export function readSealedKeyId(head: Uint8Array): string {
  const [version, idLength = 0] = head;
  if (version !== VERSION || idLength === 0 || head.length < 2 + idLength) {
    throw new SealError('malformed');
  }
  return Buffer.from(head.buffer, head.byteOffset + 2, idLength).toString('latin1');
}

function wrap(ring: KeyRing, dataKey: Uint8Array, context: SealContext): WrappedKey {
  return ring.wrap(dataKey, (keyId) => keyAad(context, keyId));
}

function unwrap(ring: KeyRing, wrappedKey: WrappedKey, context: SealContext): Buffer {
  const dataKey = ring.unwrap(wrappedKey, keyAad(context, wrappedKey.keyId));
  if (dataKey === 'unknown_key') throw new UnknownKeyError();
  if (dataKey === 'not_authentic') throw new SealError(dataKey);
  return dataKey;
}

function write({ keyId, wrapped }: WrappedKey, field: Uint8Array): Buffer {
  return Buffer.concat([sealedPrefix(keyId), wrapped, field]);
}

function read(sealed: Uint8Array): { wrappedKey: WrappedKey; field: Buffer } {
  const keyId = readSealedKeyId(sealed);
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const keyAt = 2 + keyId.length;
  const fieldAt = keyAt + WRAPPED_KEY_BYTES;
  if (bytes.length < fieldAt + OVERHEAD_BYTES) throw new SealError('malformed');
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
