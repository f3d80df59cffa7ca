import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = ALPHABET.length;
const RANDOM_LENGTH = 32;
/** 62⁶ exceeds 2³², so that a CRC-32 fits. */
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^cl_(live|test)_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * A new API key: `cl_live_` or `cl_test_`, 32 random characters (190 bits), and a checksum of all
 * before it. The fixed shape lets secret scanners find a leaked key.
 */
export function generateApiKey(live: boolean): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET.charAt(randomInt(BASE)));
  const unchecked = `${live ? 'cl_live_' : 'cl_test_'}${random.join('')}`;
  return unchecked + checksum(unchecked);
}

/**
 * Whether this may be one of our keys, by shape and checksum: typing errors and random guesses are
 * refused without asking the database. The answer rests on nothing secret, as anyone can compute it.
 */
export function isWellFormedApiKey(key: string): boolean {
  if (!SHAPE.test(key)) return false;
  return key.endsWith(checksum(key.slice(0, -CHECKSUM_LENGTH)));
}

/**
 * The SHA-256 digest of a key: all that is ever stored of it, and what it is looked up by. With 190
 * random bits there is nothing a slow hash would protect.
 */
export function digestApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = ALPHABET.charAt(rest % BASE) + digits;
    rest = Math.floor(rest / BASE);
  }
  return digits;
}
