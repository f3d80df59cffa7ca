/** Reads the metadata of a call that its handler or the procedure needs. */
import type { DescMessage, Message } from '@bufbuild/protobuf';
import { isUuid } from '@creditlane/runtime/ids';
import {
  AUTHORIZATION,
  type CallIdempotency,
  IDEMPOTENCY_KEY,
  RETRY_TOKEN,
  type ReadMetadata,
  requestDigestOf,
} from '../call.ts';
import { invalid, unauthenticated } from '../fault.ts';
import type { Identity } from '../identity.ts';

const IDEMPOTENCY_KEY_MAX_LENGTH = 255;
const BEARER = 'Bearer ';

/** The identity token. Throws an `unauthenticated` Fault when there is none. */
export function readBearerToken(metadata: ReadMetadata): string {
  const authorization = metadata(AUTHORIZATION);
  if (!authorization?.startsWith(BEARER)) {
    throw unauthenticated('token_missing', 'the call carries no identity token');
  }
  return authorization.slice(BEARER.length);
}

/** The retry token in lower case, or undefined when the caller sent none or one that is not a UUID. */
export function readRetryToken(metadata: ReadMetadata): string | undefined {
  const token = metadata(RETRY_TOKEN);
  return token && isUuid(token) ? token.toLowerCase() : undefined;
}

/**
 * The identification of the stored answer of the call's idempotency key; undefined without a key.
 * Throws an `invalid` Fault when the key is too long.
 */
export function readIdempotency(
  metadata: ReadMetadata,
  operation: string,
  { subject }: Identity,
  schema: DescMessage,
  request: Message,
): CallIdempotency | undefined {
  const key = metadata(IDEMPOTENCY_KEY);
  if (!key) return undefined;
  if (key.length > IDEMPOTENCY_KEY_MAX_LENGTH) {
    throw invalid('idempotency_key_too_long', 'the idempotency key has more than 255 characters');
  }
  return { callerId: subject, operation, key, requestDigest: requestDigestOf(schema, request) };
}
