// Checks the two signatures of a webhook as a subscriber would, independently of the sender's code.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ReceivedWebhook } from './received-webhooks.ts';

const TOLERANCE_S = 5 * 60;

/** `stale`: signed by a known secret, at a time more than 5 minutes from its arrival. */
type Verdict = 'valid' | 'invalid' | 'missing' | 'stale';

export interface Verdicts {
  /** X-SERVICE-SIGNATURE or X-INTEGRATION-SIGNATURE: hex HMAC-SHA256 of the body. */
  service: Verdict;
  /** The headers of Standard Webhooks 1.0.0. */
  standard: Verdict;
}

/**
 * @param secrets the live ones, `whsec_` and the base64 of the key; one that fits is enough
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function checkSignatures(arrival: ReceivedWebhook, secrets: string[]): Verdicts {
  const keys = secrets.map((secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  return { service: checkService(arrival, keys), standard: checkStandard(arrival, keys) };
}

function checkService({ headers, body }: ReceivedWebhook, keys: Buffer[]): Verdict {
  const given = headers['x-service-signature'] ?? headers['x-integration-signature'];
  if (given === undefined) return 'missing';
  return keys.some((key) => sameText(given, mac(key, body).toString('hex'))) ? 'valid' : 'invalid';
}

function checkStandard({ headers, body, receivedAt }: ReceivedWebhook, keys: Buffer[]): Verdict {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const signatures = headers['webhook-signature'];
  if (!(id && timestamp && signatures)) return 'missing';
  const fits = keys.some((key) => {
    const wanted = `v1,${mac(key, `${id}.${timestamp}.${body}`).toString('base64')}`;
    return signatures.split(' ').some((given) => sameText(given, wanted));
  });
  if (!fits) return 'invalid';
  const ageS = Date.parse(receivedAt) / 1000 - Number(timestamp);
  return Math.abs(ageS) <= TOLERANCE_S ? 'valid' : 'stale';
}

function mac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sameText(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
