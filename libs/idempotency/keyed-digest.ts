/** Digests of stored requests from which a request that holds personal data cannot be guessed. */
import { createHmac, randomBytes } from 'node:crypto';
import type { CallIdempotency } from '@creditlane/rpc/call';
import { setting } from '@creditlane/runtime/setting';

/** The setting of a service whose requests hold personal data. The platform makes one key for all services. */
export const DIGEST_KEY = setting.bytes('REQUEST_DIGEST_KEY', {
  secret: true,
  generate: () => randomBytes(32).toString('base64'),
  about: 'Keys the digests of stored requests; after a change, a repetition is a new request.',
});

/**
 * The same idempotency with an HMAC of the request's digest. From a plain digest, someone who reads the
 * database and knows the rest of a request could find a social insurance number, or a comment of a few
 * words, by trying every value.
 */
export function withKeyedDigest(
  idempotency: CallIdempotency | undefined,
  digestKey: Uint8Array,
): CallIdempotency | undefined {
  if (!idempotency) return undefined;
  const { requestDigest } = idempotency;
  const keyedDigest = createHmac('sha256', digestKey).update(requestDigest).digest();
  return { ...idempotency, requestDigest: keyedDigest };
}
