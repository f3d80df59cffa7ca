import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What encryption adds to a plaintext: the nonce before it, the tag after it. */
export const OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES;

/**
 * Encrypts with AES-256-GCM under a fresh random nonce: `nonce (12) ‖ ciphertext ‖ tag (16)`.
 *
 * Random nonces allow 2³² boxes under one key (NIST SP 800-38D, section 8.3).
 */
export function encrypt(key: KeyObject, plaintext: Uint8Array, aad: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(aad);
  const body = cipher.update(plaintext);
  return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()]);
}

/**
 * Decrypts what `encrypt` made.
 * @returns undefined when the box was not made with this key and these associated data.
 */
export function decrypt(key: KeyObject, box: Uint8Array, aad: Uint8Array): Buffer | undefined {
  if (box.length < OVERHEAD_BYTES) return undefined;
  const nonce = box.subarray(0, NONCE_BYTES);
  const body = box.subarray(NONCE_BYTES, box.length - TAG_BYTES);
  // Without a fixed tag length Node accepts tags of 4 bytes, which can be guessed.
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(aad);
  decipher.setAuthTag(box.subarray(box.length - TAG_BYTES));
  const plaintext = decipher.update(body);
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    // final() has one way to fail here: the tag does not fit. Nothing of the plaintext gets out.
    plaintext.fill(0);
    return undefined;
  }
}
