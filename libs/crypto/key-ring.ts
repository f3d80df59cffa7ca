import { createSecretKey, type KeyObject } from 'node:crypto';
import { dayOf, isCalendarDate } from '@creditlane/runtime/calendar-date';
import type { Renewed } from '@creditlane/runtime/renewed-file';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
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

/** Why a data key cannot be unwrapped: the ring lacks the key, or the key or the associated data are wrong. */
export type UnwrapFailure = 'unknown_key' | 'not_authentic';

/** The text of a key ring is not valid. The message never quotes key material. */
export class KeyRingError extends LoggableError {}

/** The keys that a text lists, and the first of them. */
export interface RingKeys {
  readonly keys: ReadonlyMap<string, KeyObject>;
  readonly current: { readonly id: string; readonly key: KeyObject };
  /** The days on which keys were made, of those whose entries have a date. */
  readonly madeAt: ReadonlyMap<string, Date>;
}

/**
 * Reads `id:base64,id:base64:yyyy-MM-dd`, the current key first; each key is 32 bytes, and has the day on which it was
 * made or none.
 * @throws {KeyRingError} on a malformed entry, a repeated id, or one key under two ids.
 */
export function parseKeyRing(text: string): RingKeys {
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
  const madeAt = new Map(
    entries.flatMap(({ id, madeAt }) => (madeAt ? [[id, madeAt] as const] : [])),
  );
  return { keys, current: first, madeAt };
}

/**
 * Key-encryption keys by id. The first key wraps, and all keys unwrap. A rotation adds a new key, makes it the first
 * once every process has it, wraps every record again, and then removes the old key.
 *
 * The ring follows its file, so two calls may use different keys. What is stored beside a wrapped key is therefore the
 * id of that `WrappedKey`: only a ring that never changes has a `currentId`.
 */
export class KeyRing {
  readonly #read: Renewed<RingKeys>;

  constructor(read: Renewed<RingKeys>) {
    this.#read = read;
  }

  /** The ring of a text. */
  static parse(text: string): FixedKeyRing {
    return new FixedKeyRing(parseKeyRing(text));
  }

  /** A ring with the keys that this one has now. */
  snapshot(): FixedKeyRing {
    return new FixedKeyRing(this.#read());
  }

  /** Encrypts a data key with the current key, bound to the associated data, which are made of the key's id. */
  wrap(dataKey: Uint8Array, aadOf: (keyId: string) => Uint8Array): WrappedKey {
    const { id: keyId, key } = this.#read().current;
    return { keyId, wrapped: encrypt(key, dataKey, aadOf(keyId)) };
  }

  /** The days on which keys were made, by their ids, of those whose entries have a date. */
  get madeAt(): ReadonlyMap<string, Date> {
    return this.#read().madeAt;
  }

  /**
   * Whether the ring contains the key `keyId`. Before it says no, reads its file again, within the limit of
   * `renewedFile`.
   */
  has(keyId: string): boolean {
    return this.#find(keyId) !== undefined;
  }

  /**
   * Decrypts a data key. Before it says that a key is unknown, reads the file again, within the limit of `renewedFile`.
   * The ring is read once, so that a key that the file loses meanwhile never makes `not_authentic`, which no repetition
   * changes, of what is authentic.
   */
  unwrap({ keyId, wrapped }: WrappedKey, aad: Uint8Array): Buffer | UnwrapFailure {
    const key = this.#find(keyId);
    if (key === undefined) return 'unknown_key';
    return decrypt(key, wrapped, aad) ?? 'not_authentic';
  }

  #find(keyId: string): KeyObject | undefined {
    return this.#read(({ keys }) => !keys.has(keyId)).keys.get(keyId);
  }
}

/** A ring that never changes. */
export class FixedKeyRing extends KeyRing {
  readonly currentId: string;

  constructor(keys: RingKeys) {
    super(() => keys);
    this.currentId = keys.current.id;
  }
}

function parseEntry(entry: string, at: number) {
  const colon = entry.indexOf(':');
  const id = entry.slice(0, Math.max(0, colon));
  const [encoded = '', ...rest] = entry.slice(colon + 1).split(':');
  const date = rest.length === 0 ? undefined : rest.join(':');
  if (!KEY_ID.test(id)) throw new KeyRingError(`entry ${at} does not start with an id and a colon`);
  if (!BASE64.test(encoded))
    throw new KeyRingError(`key ${id} is not ${KEY_BYTES} bytes of base64`);
  if (date !== undefined && !isCalendarDate(date))
    throw new KeyRingError(`key ${id} has a date that is no calendar date, written yyyy-MM-dd`);
  const madeAt = date === undefined ? undefined : dayOf(date);
  return { id, key: createSecretKey(encoded, 'base64'), madeAt };
}
