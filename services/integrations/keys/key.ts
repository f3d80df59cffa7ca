/** The owners of API keys, and the keys of the platform, which come from the settings. */
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import { PLATFORM_PERMISSIONS } from '../permission.ts';

/** How many keys that are not revoked an integration may have, and its administration is shown. */
export const MAX_UNREVOKED_KEYS = 100;

/** The owner of a key, with its permissions. */
export interface KeyOwner {
  kind: 'integration' | 'platform';
  /** The integration's id; for a platform key an id that is derived from the key's digest. */
  callerId: string;
  keyId: string;
  permissions: readonly string[];
  /** Undefined where the gateway's setting applies. */
  rateLimit?: { requests: number; windowSeconds: number } | undefined;
}

/** The owners of the platform's keys, by the lower-case hex of each key's SHA-256. */
export type PlatformKeys = ReadonlyMap<string, KeyOwner>;

/** The list of platform keys has an entry that cannot be read. */
class KeyDigestError extends LoggableError {}

/**
 * Reads the platform's keys: the hex of their digests, separated by commas. A digest may be followed by the
 * key's permissions, each after a colon; without any the key has all permissions. Platform keys are stored
 * nowhere else: a key whose digest is removed from the list is refused from the next start on.
 *
 * @throws {KeyDigestError} on an entry that is not a SHA-256 digest in hex, or names an unknown permission
 */
export function parsePlatformKeys(text: string): PlatformKeys {
  const entries = text.split(',').map((entry) => entry.trim().split(':'));
  return new Map(
    entries.map(([hex = '', ...named], index) => {
      const digest = hex.toLowerCase();
      if (!/^[0-9a-f]{64}$/.test(digest)) {
        throw new KeyDigestError(`entry ${index + 1} is not a SHA-256 digest in hex`);
      }
      const permissions = PLATFORM_PERMISSIONS.filter((known) => named.includes(known));
      if (permissions.length !== named.length) {
        const known = PLATFORM_PERMISSIONS.join(', ');
        throw new KeyDigestError(
          `entry ${index + 1} has other permissions than ${known}, each once`,
        );
      }
      return [
        digest,
        platformOwner(digest, named.length === 0 ? PLATFORM_PERMISSIONS : permissions),
      ];
    }),
  );
}

// A platform key's id names the key in logs and records. It is the first digits of the digest, so that it
// is the same on every replica and does not reveal the key, in the form of a UUID of version 8 (RFC 9562).
function platformOwner(digest: string, permissions: readonly string[]): KeyOwner {
  const groups = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(12, 15)}`,
    `8${digest.slice(15, 18)}`,
    digest.slice(18, 30),
  ];
  const keyId = groups.join('-');
  return { kind: 'platform', callerId: keyId, keyId, permissions };
}
