/** The HMAC keys of webhook secrets. */
import { decodeBase64, type SecretKey } from './signature.ts';
import { WebhookVerificationError } from './verification-error.ts';

const PREFIX = 'whsec_';
const KEY_BYTES = 32;
const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };

/** Throws `malformed_secret`, saying which one and why, and never the secret itself. */
export function importSecrets(secrets: readonly string[]): Promise<SecretKey[]> {
  return Promise.all(
    secrets.map((secret, index) => {
      const bytes = decodeSecret(secret, `Secret ${index + 1} of ${secrets.length}`);
      return crypto.subtle.importKey('raw', bytes, ALGORITHM, false, ['verify']);
    }),
  );
}

function decodeSecret(secret: unknown, name: string): Uint8Array<ArrayBuffer> {
  if (typeof secret !== 'string') throw malformed(`${name} is not a string.`);
  if (secret !== secret.trim()) throw malformed(`${name} has white space around it.`);
  if (!secret.startsWith(PREFIX)) throw malformed(`${name} does not begin with ${PREFIX}.`);
  const bytes = decodeBase64(secret.slice(PREFIX.length));
  if (bytes === undefined) throw malformed(`${name} is not base64 after ${PREFIX}.`);
  if (bytes.length !== KEY_BYTES) {
    throw malformed(
      `${name} has ${bytes.length} bytes instead of ${KEY_BYTES}: it is cut or not whole.`,
    );
  }
  return bytes;
}

function malformed(message: string): WebhookVerificationError {
  return new WebhookVerificationError('malformed_secret', message);
}
