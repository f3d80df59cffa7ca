import { randomBytes } from 'node:crypto';

const SEQUENCE_LIMIT = 0x1000;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID of any version, as PostgreSQL takes it, in either case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

let lastMs = 0;
let sequence = 0;

/**
 * A new UUID version 7 (RFC 9562, section 5.7) in lower case.
 *
 * Ids made by one process sort in the order they were made, also within one millisecond and when
 * the machine's clock steps back: `rand_a` counts within the millisecond (method 1 of section 6.2)
 * and the time never goes backwards. 62 random bits tell processes apart.
 */
export function newId(): string {
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    // The top bit starts clear so that at least 2,048 ids fit before the time has to be borrowed.
    sequence = randomBytes(2).readUInt16BE() & 0x7ff;
  } else {
    sequence += 1;
    if (sequence === SEQUENCE_LIMIT) {
      lastMs += 1;
      sequence = 0;
    }
  }
  const bytes = randomBytes(16);
  bytes.writeUIntBE(lastMs, 0, 6);
  bytes.writeUInt16BE(0x7000 | sequence, 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
  const hex = bytes.toString('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-');
}
