/** The Ed25519 keys that sign and verify identity tokens, in the forms of the configuration. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';

/** A key in DER, as bytes or in base64: PKCS8 for a private key, SPKI for a public key. */
export type EncodedKey = string | Uint8Array;

/** The public keys of each trusted issuer. An issuer has two keys while it replaces its key. */
export type TrustedKeys = Readonly<Record<string, EncodedKey | readonly EncodedKey[]>>;

/** A new key pair in base64, for tests and for the platform in one process. */
export function generateIdentityKeys(): { privateKey: string; publicKey: string } {
  const pair = generateKeyPairSync('ed25519');
  return {
    privateKey: pair.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    publicKey: pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  };
}

/**
 * Parses "gateway:base64,decisions:base64". An issuer may be listed twice.
 * Throws an Error that names the issuer whose key cannot be read.
 */
export function parseTrustedKeys(text: string): TrustedKeys {
  const trust = new Map<string, string[]>();
  for (const entry of text.split(',')) {
    const [issuer, key, ...rest] = entry.trim().split(':');
    if (!issuer || !key || rest.length > 0) throw new Error('expected issuer:key,issuer:key,…');
    readPublicKey(issuer, key);
    trust.set(issuer, [...(trust.get(issuer) ?? []), key]);
  }
  return Object.fromEntries(trust);
}

/** Throws an Error when the bytes are not an Ed25519 private key. */
export function readPrivateKey(encoded: EncodedKey): KeyObject {
  return ed25519('the identity key', () =>
    createPrivateKey({ key: der(encoded), format: 'der', type: 'pkcs8' }),
  );
}

/** Throws an Error that names the issuer when the bytes are not an Ed25519 public key. */
export function readPublicKey(issuer: string, encoded: EncodedKey): KeyObject {
  return ed25519(`the public key of ${issuer}`, () =>
    createPublicKey({ key: der(encoded), format: 'der', type: 'spki' }),
  );
}

function ed25519(what: string, read: () => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch {
    // OpenSSL's message does not help an operator, and the cause may quote the key.
    throw new Error(`${what} cannot be read as base64 DER`);
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${what} is not an Ed25519 key`);
  return key;
}

function der(encoded: EncodedKey): Buffer {
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64') : Buffer.from(encoded);
}
