/** The owners of API keys, and the keys of the platform, which come from the settings. */
import { PLATFORM_PERMISSIONS } from './permission.ts';

/** The owner of a key, with its permissions. */
export interface KeyOwner {
  kind: 'integration' | 'platform';
  /** The integration's id; for a platform key an id that is derived from the key's digest. */
  callerId: string;
  permissions: readonly string[];
}

/** The owners of the platform's keys, by the lower-case hex of each key's SHA-256. */
export type PlatformKeys = ReadonlyMap<string, KeyOwner>;

/** The list of platform keys has an entry that is not a SHA-256 digest. */
export class KeyDigestError extends Error {
  override readonly name = 'KeyDigestError';
  readonly loggable = true;
}

/**
 * Reads the platform's keys from the hex of their digests, separated by commas. Platform keys are
 * stored nowhere else: a key whose digest is removed from the list is refused from the next start on.
 *
 * @throws {KeyDigestError} on an entry that is not a SHA-256 digest in hex
 */
export function parsePlatformKeys(text: string): PlatformKeys {
  const entries = text.split(',').map((entry) => entry.trim().toLowerCase());
  return new Map(
    entries.map((digest, index) => {
      if (!/^[0-9a-f]{64}$/.test(digest)) {
        throw new KeyDigestError(`entry ${index + 1} is not a SHA-256 digest in hex`);
      }
      return [digest, platformOwner(digest)];
    }),
  );
}

// A platform key's id names the key in logs and records. It is the first digits of the digest, so that it
// is the same on every replica and does not reveal the key, in the form of a UUID of version 8 (RFC 9562).
function platformOwner(digest: string): KeyOwner {
  const groups = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(12, 15)}`,
    `8${digest.slice(15, 18)}`,
    digest.slice(18, 30),
  ];
  return { kind: 'platform', callerId: groups.join('-'), permissions: PLATFORM_PERMISSIONS };
}
