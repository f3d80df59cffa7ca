// Checks the two signatures of a webhook as a subscriber would, independently of the sender's code.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ReceivedWebhook } from './received-webhooks.ts';

const TOLERANCE_S = 5 * 60;

/** `stale`: signed by a known secret, more than 5 minutes before or after the webhook was received. */
type Verdict = 'valid' | 'invalid' | 'missing' | 'stale';

export interface Verdicts {
  /** X-SERVICE-SIGNATURE or X-INTEGRATION-SIGNATURE: hex HMAC-SHA256 of the body. */
  service: Verdict;
  /** The headers of Standard Webhooks 1.0.0. */
  standard: Verdict;
}

/**
 * @param secrets the valid ones, `whsec_` and the base64 of the key; one that matches is enough
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function checkSignatures(webhook: ReceivedWebhook, secrets: string[]): Verdicts {
  const keys = secrets.map((secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  return { service: checkService(webhook, keys), standard: checkStandard(webhook, keys) };
}

/** The `secret` in a JSON text, such as the answer to a rotation; undefined when there is none of 32 bytes. */
export function readSecret(json: string | undefined): string | undefined {
  try {
    const { secret } = JSON.parse(json ?? '') ?? {};
    const isSecret = typeof secret === 'string' && /^whsec_[A-Za-z0-9+/]{43}=$/.test(secret);
    return isSecret ? secret : undefined;
  } catch {
    // Not JSON: the caller answers with what is expected.
    return undefined;
  }
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
  const matches = keys.some((key) => {
    const expected = `v1,${mac(key, `${id}.${timestamp}.${body}`).toString('base64')}`;
    return signatures.split(' ').some((given) => sameText(given, expected));
  });
  if (!matches) return 'invalid';
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
