/** Digests of stored requests from which a request that holds personal data cannot be guessed. */
import { createHmac, randomBytes } from 'node:crypto';
import type { Call } from '@creditlane/rpc/call';
import type { Renewed } from '@creditlane/runtime/renewed-file';
import { type Keys, setting } from '@creditlane/runtime/setting';
import { withTodaysDate } from '@creditlane/runtime/telemetry/key-dates';

/** The setting of a service whose requests hold personal data. The platform makes one key for all services. */
export const DIGEST_KEY = setting.keys('REQUEST_DIGEST_KEY', {
  secret: true,
  generate: () => withTodaysDate(randomBytes(32).toString('base64')),
  about:
    'The key of the digests of stored requests, and behind it those of requests of the last day.',
});

/**
 * The same call with an HMAC of the request's digest. From a plain digest, someone who reads the database and knows
 * the rest of a request could find a social insurance number, or a comment of a few words, by trying every value.
 */
export function withKeyedDigest<C extends Pick<Call, 'idempotency'>>(
  call: C,
  digestKeys: Renewed<Keys>,
): C {
  const { idempotency } = call;
  if (!idempotency) return call;
  const { requestDigest } = idempotency;
  const keyedBy = (key: Uint8Array) => createHmac('sha256', key).update(requestDigest).digest();
  return {
    ...call,
    idempotency: {
      ...idempotency,
      requestDigest: keyedBy(digestKeys()[0]),
      // Another process may have stored the answer with a key that the file got a moment ago.
      otherDigests: () => digestKeys(() => true).map(keyedBy),
    },
  };
}
