/** The rules for a webhook destination: its URL and its signing secret. */
import { randomBytes } from 'node:crypto';
import {
  isUnsealFailure,
  type SealContext,
  type SealError,
  type UnknownKeyError,
  unseal,
} from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { describeRefusal } from '@creditlane/egress-rules/describe-refusal';
import {
  checkEgressUrl,
  EgressDeniedError,
  type EgressPolicy,
  readDestinationUrl,
} from '@creditlane/egress-rules/destination-url';
import { invalidFields } from '@creditlane/rpc/fault';

/** Bytes of a signing secret, which are its HMAC key. */
const SECRET_BYTES = 32;

/** A new signing secret: the key itself, and the text that the integration gets once. */
export interface SigningSecret {
  bytes: Buffer;
  text: string;
}

/** Makes a signing secret in the form of Standard Webhooks 1.0.0: `whsec_` and base64 of the key. */
export function makeSigningSecret(): SigningSecret {
  const bytes = randomBytes(SECRET_BYTES);
  return { bytes, text: `whsec_${bytes.toString('base64')}` };
}

/** The secret, or the error that says why it cannot be opened, which is a matter of its destination alone. */
export function openSecret(
  keyRing: KeyRing,
  sealed: Uint8Array,
  context: SealContext,
): Buffer | SealError | UnknownKeyError {
  try {
    return unseal(keyRing, sealed, context);
  } catch (error) {
    if (isUnsealFailure(error)) return error;
    throw error;
  }
}

/**
 * Refuses a URL that the webhook dispatcher would never post to. The dispatcher resolves the host name
 * at each attempt, because a name that resolves to a public address today may not tomorrow.
 *
 * @throws Fault `invalid_destination`, which does not repeat the URL, since a URL may hold a password
 */
export function checkDestinationUrl(text: string, policy: EgressPolicy): void {
  const message = urlFault(text, policy);
  if (message === undefined) return;
  throw invalidFields('invalid_destination', [{ pointer: '/url', message }]);
}

function urlFault(text: string, policy: EgressPolicy): string | undefined {
  // URL.parse drops these characters silently, so the integration would see another URL.
  if (/[\s\p{Cc}]/u.test(text)) return 'must not hold spaces or control characters';
  // The event's path is appended to the URL, and would be lost in a fragment. URL.hash is empty for a
  // bare "#".
  if (text.includes('#')) return 'must not hold a fragment';
  try {
    checkEgressUrl(readDestinationUrl(text), policy);
    return undefined;
  } catch (error) {
    if (error instanceof EgressDeniedError) return describeRefusal(error.code, policy);
    throw error;
  }
}
