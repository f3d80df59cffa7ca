import { createSecretKey, type KeyObject } from 'node:crypto';
import { decrypt, encrypt } from './aes-gcm.ts';

export const KEY_BYTES = 32;
export const MAX_KEY_ID_CHARACTERS = 63;
const KEY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const BASE64 = /^[A-Za-z0-9+/]{43}=$/;

/** A data key in stored form: encrypted with the key-encryption key `keyId`. */
export interface WrappedKey {
  keyId: string;
  wrapped: Buffer;
}

/** The text of a key ring is not valid. The message never quotes key material. */
export class KeyRingError extends Error {
  override readonly name = 'KeyRingError';
  readonly loggable = true;
}

/**
 * Key-encryption keys by id. The first key wraps, and all keys unwrap. A rotation adds a new first key,
 * wraps every record again, and then removes the old key.
 */
export class KeyRing {
  readonly currentId: string;
  readonly #current: KeyObject;
  readonly #keys: ReadonlyMap<string, KeyObject>;

  private constructor(keys: ReadonlyMap<string, KeyObject>, currentId: string, current: KeyObject) {
    this.#keys = keys;
    this.currentId = currentId;
    this.#current = current;
  }

  /**
   * Reads `id:base64,id:base64`, the current key first; each key is 32 bytes.
   * @throws {KeyRingError} on a malformed entry, a repeated id, or one key under two ids.
   */
  static parse(text: string): KeyRing {
    const keys = new Map<string, KeyObject>();
    const entries = text.split(',').map((entry, at) => parseEntry(entry.trim(), at + 1));
    for (const { id, key } of entries) {
      if (keys.has(id)) throw new KeyRingError(`the id ${id} is listed twice`);
      for (const [other, known] of keys) {
        if (known.equals(key)) throw new KeyRingError(`${other} and ${id} are the same key`);
      }
      keys.set(id, key);
    }
    const [first] = entries;
    if (first === undefined) throw new KeyRingError('the ring has no key');
    return new KeyRing(keys, first.id, first.key);
  }

  /** Encrypts a data key with the current key, bound to `aad`. */
  wrap(dataKey: Uint8Array, aad: Uint8Array): WrappedKey {
    return { keyId: this.currentId, wrapped: encrypt(this.#current, dataKey, aad) };
  }

  /** Whether the ring contains the key `keyId`. */
  has(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  /** Decrypts a data key; undefined when the ring lacks the key, or when the key or `aad` is wrong. */
  unwrap({ keyId, wrapped }: WrappedKey, aad: Uint8Array): Buffer | undefined {
    const key = this.#keys.get(keyId);
    return key && decrypt(key, wrapped, aad);
  }
}

function parseEntry(entry: string, at: number): { id: string; key: KeyObject } {
  const colon = entry.indexOf(':');
  const id = entry.slice(0, Math.max(0, colon));
  const encoded = entry.slice(colon + 1);
  if (!KEY_ID.test(id)) throw new KeyRingError(`entry ${at} does not start with an id and a colon`);
  if (!BASE64.test(encoded))
    throw new KeyRingError(`key ${id} is not ${KEY_BYTES} bytes of base64`);
  return { id, key: createSecretKey(encoded, 'base64') };
}
