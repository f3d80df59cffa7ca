import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The bytes that `encrypt` adds to a plaintext: the nonce and the tag. */
export const OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES;

/**
 * Encrypts with AES-256-GCM under a fresh random nonce: `nonce (12) ‖ ciphertext ‖ tag (16)`.
 *
 * Random nonces allow 2³² encryptions with one key (NIST SP 800-38D, section 8.3).
 */
export function encrypt(key: KeyObject, plaintext: Uint8Array, aad: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(aad);
  const body = cipher.update(plaintext);
  return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()]);
}

/**
 * Decrypts an output of `encrypt`.
 * @returns undefined unless it was encrypted with this key and this associated data.
 */
export function decrypt(key: KeyObject, sealed: Uint8Array, aad: Uint8Array): Buffer | undefined {
  if (sealed.length < OVERHEAD_BYTES) return undefined;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const body = sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES);
  // Without a fixed tag length Node accepts tags of 4 bytes, which can be guessed.
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(aad);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  const plaintext = decipher.update(body);
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    // final() fails only when the tag does not match. The decrypted bytes are not authentic then.
    plaintext.fill(0);
    return undefined;
  }
}
