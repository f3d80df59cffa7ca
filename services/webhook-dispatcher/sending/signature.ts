/** Signs a webhook: a bare hex HMAC, and the headers of Standard Webhooks 1.0.0 beside it. */
import { createHmac, type KeyObject } from 'node:crypto';

/** The signed parts: `id` is the same on all attempts, `timestampS` is the time of the attempt. */
export interface SignedMessage {
  readonly id: string;
  readonly timestampS: number;
  readonly body: string;
}

/**
 * The signature headers of one attempt.
 *
 * `keys` are the destination's live secrets, newest first; they are key objects because making one
 * takes longer than signing. The header named `signatureHeader` holds the hex HMAC-SHA256 of the body
 * with the newest secret; `webhook-signature` holds one signature per secret, so that a receiver can
 * change to a new secret while both are live. Throws when there is no secret.
 *
 * Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signatureHeaders(
  message: SignedMessage,
  keys: readonly KeyObject[],
  signatureHeader: string,
): Record<string, string> {
  const [newest] = keys;
  if (newest === undefined) throw new Error('the destination has no live secret');
  const signed = `${message.id}.${message.timestampS}.${message.body}`;
  return {
    [signatureHeader]: createHmac('sha256', newest).update(message.body).digest('hex'),
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestampS),
    'webhook-signature': keys
      .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
      .join(' '),
  };
}
