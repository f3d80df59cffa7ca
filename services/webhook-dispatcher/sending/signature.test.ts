import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { signatureHeaders } from './signature.ts';

const message = {
  id: '0198f2b0-7f6e-7cc1-a9d4-0f3f5a1c2b3d',
  timestampS: Math.floor(Date.now() / 1_000),
  body: '{"conditions":"preuve de revenu à fournir, 2 × paie"}',
};
const [newest, oldest] = [randomBytes(32), randomBytes(32)];
const keys = [newest, oldest].map((secret) => createSecretKey(secret));

describe('a webhook signature', () => {
  const headers = signatureHeaders(message, keys, 'X-SERVICE-SIGNATURE');

  test.each([
    ['newest', newest],
    ['rotated', oldest],
  ])('is verified by the public Standard Webhooks library with the %s secret', (_, secret) => {
    const webhook = new Webhook(`whsec_${secret.toString('base64')}`);
    expect(webhook.verify(message.body, headers)).toEqual(JSON.parse(message.body));
  });

  test('is refused by the library when a byte of the body differs', () => {
    const webhook = new Webhook(newest, { format: 'raw' });
    expect(() => webhook.verify(message.body.replace('2', '3'), headers)).toThrow();
  });

  test('has the lower-case hex HMAC of the exact body with the newest secret in its header', () => {
    const expected = createHmac('sha256', newest).update(Buffer.from(message.body)).digest('hex');
    expect(headers['X-SERVICE-SIGNATURE']).toBe(expected);
  });

  test('throws when the destination has no live secret', () => {
    expect(() => signatureHeaders(message, [], 'X-SERVICE-SIGNATURE')).toThrow('no live secret');
  });
});
