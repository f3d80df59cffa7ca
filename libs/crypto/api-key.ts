import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = ALPHABET.length;
const RANDOM_LENGTH = 32;
/** 62⁶ exceeds 2³², so a CRC-32 fits. */
const CHECKSUM_LENGTH = 6;
const FORMAT = new RegExp(`^cl_(live|test)_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * A new API key: `cl_live_` or `cl_test_`, 32 random characters (190 bits), and a checksum of these.
 * Secret scanners can find a leaked key by its fixed format.
 */
export function generateApiKey(live: boolean): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET.charAt(randomInt(BASE)));
  const unchecked = `${live ? 'cl_live_' : 'cl_test_'}${random.join('')}`;
  return unchecked + checksum(unchecked);
}

/**
 * Whether a text has the format and the checksum of an API key. Mistyped and guessed keys are rejected
 * without a database query. The check uses no secret: anyone can compute it.
 */
export function isWellFormedApiKey(key: string): boolean {
  if (!FORMAT.test(key)) return false;
  return key.endsWith(checksum(key.slice(0, -CHECKSUM_LENGTH)));
}

/**
 * The SHA-256 digest of a key. Only the digest is stored, and keys are looked up by it. A slow hash
 * would add nothing, because 190 random bits cannot be guessed.
 */
export function digestApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit += 1) {
    digits = ALPHABET.charAt(rest % BASE) + digits;
    rest = Math.floor(rest / BASE);
  }
  return digits;
}
