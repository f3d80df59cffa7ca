/** The Ed25519 keys that sign and verify identity tokens, in DER, written in base64: PKCS8 if private, SPKI if public. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { refuse } from '@creditlane/runtime/env';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';

/** The public keys of each trusted issuer. An issuer has two keys while it replaces its key. */
export type TrustedKeys = Readonly<Record<string, string | readonly string[]>>;

/** A key cannot be used. The message names whose key it is, and quotes no key. */
class IdentityKeyError extends LoggableError {}

/** A new key pair, for tests and for the platform in one process. */
export function generateIdentityKeys(): { privateKey: string; publicKey: string } {
  const pair = generateKeyPairSync('ed25519');
  return {
    privateKey: pair.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    publicKey: pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  };
}

/**
 * Parses "gateway:base64,decisions:base64". An issuer may be listed twice.
 * Throws a LoggableError, which names the issuer whose key cannot be read.
 */
export function parseTrustedKeys(text: string): TrustedKeys {
  const trust = new Map<string, string[]>();
  for (const entry of text.split(',')) {
    const [issuer, key, ...rest] = entry.trim().split(':');
    // Of an entry in the wrong order the key stands first, and may be a private one: only a name is quoted.
    if (!issuer || !/^[a-z][a-z-]*$/.test(issuer) || !key || rest.length > 0) {
      refuse('issuer:key,issuer:key,…');
    }
    readPublicKey(issuer, key);
    trust.set(issuer, [...(trust.get(issuer) ?? []), key]);
  }
  return Object.fromEntries(trust);
}

/** Throws a LoggableError unless the text is an Ed25519 private key. */
export function readPrivateKey(encoded: string): KeyObject {
  return ed25519('the identity key', () =>
    createPrivateKey({ key: Buffer.from(encoded, 'base64'), format: 'der', type: 'pkcs8' }),
  );
}

/** Throws a LoggableError that names the issuer unless the text is an Ed25519 public key. */
export function readPublicKey(issuer: string, encoded: string): KeyObject {
  return ed25519(`the public key of ${issuer}`, () =>
    createPublicKey({ key: Buffer.from(encoded, 'base64'), format: 'der', type: 'spki' }),
  );
}

function ed25519(what: string, read: () => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch {
    // OpenSSL's message does not help an operator, and the cause may quote the key.
    throw new IdentityKeyError(`${what} cannot be read as base64 DER`);
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new IdentityKeyError(`${what} is not an Ed25519 key`);
  return key;
}
