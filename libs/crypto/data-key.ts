/**
 * Data keys that are records of their own: one key seals several fields, and once its record is destroyed none of
 * them can be read again, not from a copy of the fields either.
 *
 * A stored data key is a sealed field of `envelope.ts` whose plaintext is the key, so a rotation of the key ring
 * wraps it again like any other; a derived one is not stored. A field that a data key seals, version 2, in bytes:
 *
 *     version (1) = 0x02
 *     nonce (12) ‖ ciphertext ‖ tag (16)
 *
 * The associated data are the name of the layer, table, column, row and tenant, each after its length in 4 bytes.
 */
import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { decrypt, encrypt, OVERHEAD_BYTES } from './aes-gcm.ts';
import { associatedData } from './associated-data.ts';
import { type SealContext, SealError, seal, unseal } from './envelope.ts';
import type { KeyRing } from './key-ring.ts';

const VERSION = 2;
const KEY_BYTES = 32;

/** A data key in memory. It cannot be printed. */
export class DataKey {
  readonly #key: KeyObject;

  private constructor(bytes: Buffer) {
    this.#key = createSecretKey(bytes);
    bytes.fill(0);
  }

  /** Makes a new data key in stored form, bound to the place of its record. */
  static generateStored(ring: KeyRing, context: SealContext): Buffer {
    const bytes = randomBytes(KEY_BYTES);
    try {
      return seal(ring, bytes, context);
    } finally {
      bytes.fill(0);
    }
  }

  /** @throws {SealError} as `unseal` of `envelope.ts` does, and for a plaintext that is no key */
  static open(ring: KeyRing, stored: Uint8Array, context: SealContext): DataKey {
    const bytes = unseal(ring, stored, context);
    if (bytes.length !== KEY_BYTES) throw new SealError('malformed');
    return new DataKey(bytes);
  }

  /**
   * The data key that is derived from a secret of 32 random bytes or more, by HKDF-SHA-256 (RFC 5869): whoever has the secret
   * has the key, and without the secret nothing that the key has sealed can be read. Other purposes have other keys.
   */
  static derive(secret: KeyObject, purpose: string): DataKey {
    return new DataKey(Buffer.from(hkdfSync('sha256', secret, '', purpose, KEY_BYTES)));
  }

  /** Encrypts `plaintext` for this place. */
  seal(plaintext: Uint8Array, context: SealContext): Buffer {
    const field = encrypt(this.#key, plaintext, aadOf(context));
    return Buffer.concat([Buffer.from([VERSION]), field]);
  }

  /** @throws {SealError} unless the field is unchanged and was sealed with this key for this place */
  unseal(sealed: Uint8Array, context: SealContext): Buffer {
    if (sealed[0] !== VERSION || sealed.length < 1 + OVERHEAD_BYTES) {
      throw new SealError('malformed');
    }
    const plaintext = decrypt(this.#key, sealed.subarray(1), aadOf(context));
    if (plaintext === undefined) throw new SealError('not_authentic');
    return plaintext;
  }
}

function aadOf({ table, column, row, tenant }: SealContext): Buffer {
  return associatedData('field of a data key', table, column, row, tenant);
}
