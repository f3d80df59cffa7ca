import { createHash, randomUUID } from 'node:crypto';

/** The nil UUID (RFC 9562, section 5.9): no record has it, and it sorts before every other id. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';

const SEQUENCE_LIMIT = 0x1000;

const CANONICAL_UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UUID = new RegExp(CANONICAL_UUID, 'i');

/** Whether a text is a UUID of any version, in upper or lower case. PostgreSQL accepts both. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/**
 * Whether a text is a UUID of any version in lower case, the form that PostgreSQL returns and RFC
 * 9562 prescribes for output. For ids that are compared as text.
 */
export function isCanonicalUuid(text: string): boolean {
  return CANONICAL_UUID.test(text);
}

let lastMs = 0;
let sequence = 0;

/**
 * A new UUID version 7 (RFC 9562, section 5.7) in lower case.
 *
 * The ids of one process sort in the order of their creation, also within one millisecond and when the
 * clock of the machine steps back: `rand_a` counts within the millisecond (method 1 of section 6.2), and
 * the time part never decreases. 62 random bits distinguish the ids of different processes.
 */
export function newId(): string {
  // randomUUID is fast, because Node draws random bits in bulk. Its last two groups contain the variant
  // and 62 random bits.
  const random = randomUUID();
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    // The top bit starts clear, so that at least 2,048 ids fit before the next millisecond is used.
    sequence = Number.parseInt(random.slice(0, 4), 16) & 0x7ff;
  } else {
    sequence += 1;
    if (sequence === SEQUENCE_LIMIT) {
      lastMs += 1;
      sequence = 0;
    }
  }
  const time = lastMs.toString(16).padStart(12, '0');
  const counted = sequence.toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counted}-${random.slice(19)}`;
}

/** The UUID that sorts before every UUID version 7 of this time, given in milliseconds since the epoch, and after those before. */
export function firstIdOfTime(timeMs: number): string {
  const time = timeMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** The time of a UUID version 7 in milliseconds since the epoch; undefined for other ids, which have none. */
export function timeOfId(id: string): number | undefined {
  return id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
}

/**
 * A UUID version 8 (RFC 9562, section 5.8) made from a name by SHA-256, in lower case: the same parts always
 * give the same id.
 */
export function idOfName(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) {
    // The length before each part distinguishes ("ab", "c") from ("a", "bc").
    hash.update(`${Buffer.byteLength(part)} `).update(part);
  }
  const hex = hash.digest('hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
