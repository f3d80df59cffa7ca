import { createHmac } from 'node:crypto';

/** Lower-case hex HMAC-SHA256 of the body's bytes, keyed with the base64 bytes behind `whsec_`. */
export function hexSignature(secret: string, body: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return createHmac('sha256', key).update(body).digest('hex');
}
