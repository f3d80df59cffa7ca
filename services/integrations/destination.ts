import { randomBytes } from 'node:crypto';
import type { SealContext } from '@creditlane/crypto/envelope';
import {
  checkEgressUrl,
  EgressDeniedError,
  type EgressPolicy,
} from '@creditlane/egress-rules/destination-url';
import { invalid } from '@creditlane/rpc/fault';

/** Bytes of a signing secret, which are its HMAC key. */
const SECRET_BYTES = 32;

/** A new signing secret: the key itself, and the form that its owner is shown once. */
export interface SigningSecret {
  bytes: Buffer;
  text: string;
}

/** Makes a signing secret in the form of Standard Webhooks 1.0.0: `whsec_` and base64 of the key. */
export function makeSigningSecret(): SigningSecret {
  const bytes = randomBytes(SECRET_BYTES);
  return { bytes, text: `whsec_${bytes.toString('base64')}` };
}

/** The place that a destination's secret is sealed for. */
export function secretContext(destinationId: string, integrationId: string): SealContext {
  return {
    table: 'destinations',
    column: 'sealed_secret',
    row: destinationId,
    tenant: integrationId,
  };
}

/**
 * Refuses a URL that the sender would never post to. What its name leads to is judged at each attempt:
 * a name that is public today may not be tomorrow.
 *
 * @throws Fault `invalid_destination`, which does not repeat the URL: it may hold a password
 */
export function checkDestinationUrl(text: string, policy: EgressPolicy): void {
  const message = urlFault(text, policy);
  if (message === undefined) return;
  throw invalid('invalid_destination', `url ${message}`, [{ pointer: '/url', message }]);
}

function urlFault(text: string, policy: EgressPolicy): string | undefined {
  // The parser would drop these without a word, and the owner would be shown another URL.
  if (/[\s\p{Cc}]/u.test(text)) return 'must not hold spaces or control characters';
  const url = URL.parse(text);
  if (!url) return 'must be an absolute URL';
  // Behind even a bare "#" the event's address would be lost; URL.hash is empty for that one.
  if (text.includes('#')) return 'must not hold a fragment';
  try {
    checkEgressUrl(url, policy);
    return undefined;
  } catch (error) {
    if (error instanceof EgressDeniedError) return refusalText(error.code, policy);
    throw error;
  }
}

function refusalText(code: string, { ports }: EgressPolicy): string {
  switch (code) {
    case 'scheme_not_allowed':
      return 'must begin with https://';
    case 'credentials_in_url':
      return 'must not hold a user name or password';
    case 'port_not_allowed':
      return `must have one of the ports ${ports.join(', ')}`;
    default:
      return 'must lead to a public name or address';
  }
}
