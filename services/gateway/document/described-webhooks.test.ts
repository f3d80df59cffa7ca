// The check that the tests' receivers make of every webhook, with webhooks that differ from the document.
import { newId } from '@creditlane/runtime/ids';
import { describe, expect, test } from 'vitest';
import { webhookExamples } from './examples.ts';
import { openApiDocument } from './openapi-document.ts';
import { requireDescribedWebhook } from './test-described-webhooks.ts';

const booked = {
  retailerId: newId(),
  creditorId: newId(),
  applicationId: newId(),
  status: 'BOOKED',
};
const HEADERS = {
  host: '127.0.0.1',
  'content-type': 'application/json',
  'webhook-id': newId(),
  'webhook-timestamp': '1772463845',
  'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
  'webhook-sequence': '1',
};
const SIGNATURE = { 'x-service-signature': 'a'.repeat(64) };

interface Seeded {
  path?: string;
  headers?: Record<string, string>;
  body?: object;
}

const check = ({ path = '/application-booked', headers = SIGNATURE, body = booked }: Seeded) =>
  requireDescribedWebhook({
    path,
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify(body),
  });

describe('a webhook that the document describes', () => {
  test('is accepted, at any base path and as a test event', () => {
    const headers = { ...SIGNATURE, 'webhook-test': 'true' };
    expect(() => check({ path: '/hooks/application-booked', headers })).not.toThrow();
  });

  test.each([...webhookExamples(openApiDocument())])('%s is accepted', (name, body) => {
    const path = `/${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    const isEnabled = name === 'integrationEnabled';
    const headers = isEnabled ? { 'x-integration-signature': 'a'.repeat(64) } : SIGNATURE;
    expect(() => check({ path, headers, body: JSON.parse(body) })).not.toThrow();
  });

  test.each<[string, Seeded, string]>([
    ['a field that is not described', { body: { ...booked, tier: 'A' } }, 'tier'],
    ['a value of the wrong type', { body: { ...booked, conditions: 1 } }, '/conditions'],
    ['a field missing', { body: { status: 'BOOKED' } }, 'retailerId'],
    ['the status of another event', { body: { ...booked, status: 'DECLINED' } }, '/status'],
    ['an address of no webhook', { path: '/application-lost' }, 'no webhook'],
    ['another content type', { headers: { ...SIGNATURE, 'content-type': 'text/plain' } }, 'type'],
    ['a header that is not described', { headers: { ...SIGNATURE, 'x-tier': 'A' } }, 'x-tier'],
    ['no signature', { headers: {} }, 'x-service-signature is missing'],
    ['a signature that is no hex', { headers: { 'x-service-signature': 'v1,x' } }, 'pattern'],
  ])('with %s is refused', (_, seeded, named) => {
    expect(() => check(seeded)).toThrow(named);
  });
});
