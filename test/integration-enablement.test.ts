import { randomUUID } from 'node:crypto';
import { makeApplication } from '@creditlane/local/demo/demo';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ACCESS_CHANGES_WITHIN_MS } from './platform/access-change.ts';
import { decisionPath } from './platform/api-client.ts';
import { eventually } from './platform/eventually.ts';
import { hexSignature } from './platform/hex-signature.ts';
import { openTestPlatform } from './platform/shared-platform.ts';
import type { TestPlatform } from './platform/test-platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform.close());

describe('an integration is enabled for a creditor', { timeout: 60_000 }, () => {
  const change = async (operation: string, body: object = {}) => {
    const { creditorId } = platform.demo;
    const answer = await platform.api.post(`/creditors/${operation}`, { creditorId, ...body });
    return [answer.status, answer.body];
  };
  const setTo = (status: string) => [200, { creditorId: platform.demo.creditorId, status }];
  const decide = () => platform.recordDecision(platform.demo, { decision: 'INCOMPLETE' });
  const untilDecided = (status: number) =>
    eventually(
      `answer ${status}`,
      async () => ((await decide()).status === status ? true : undefined),
      ACCESS_CHANGES_WITHIN_MS,
    );

  test('before it was requested it cannot be enabled, and works by its grant', async () => {
    expect(await change('enable-integration')).toMatchObject([
      409,
      { code: 'integration_not_requested' },
    ]);
    expect((await decide()).status).toBe(200);
  });

  test('disabling blocks decisions as the creditor alone, and enabling restores them', async () => {
    const disabled = await change('disable-integration', { reason: 'The contract ended.' });
    expect(disabled).toEqual(setTo('DISABLED'));
    await untilDecided(400);
    expect((await decide()).body.code).toBe('submission_not_found');
    // The grant on the retailer goes on working.
    expect((await platform.api.get(decisionPath(platform.demo))).status).toBe(200);

    const status = await platform.api.get(`/creditors/${platform.demo.creditorId}/integration`);
    expect(status.body).toEqual({
      creditorId: platform.demo.creditorId,
      status: 'DISABLED',
      reason: 'The contract ended.',
      setAt: expect.any(String),
    });
    expect(await change('enable-integration')).toMatchObject([409, {}]);
    expect(await change('integration-status', { status: 'REQUESTED' })).toEqual(setTo('REQUESTED'));
    expect(await change('enable-integration')).toEqual(setTo('ENABLED'));
    await untilDecided(200);
  });
});

describe('a retailer enables an integration', { timeout: 60_000 }, () => {
  beforeEach(async () => {
    await platform.settle();
    await platform.inbox.clear();
  });

  const asPlatform = () => ({ key: platform.demo.keys.platform });
  const enable = (retailerId: string, body?: object, headers: Record<string, string> = {}) => {
    const path = `/platform/integrations/${platform.demo.integrationId}/retailers/${retailerId}`;
    return platform.api.post(`${path}/enable`, body, { ...asPlatform(), headers });
  };
  const registerRetailer = async (name: string) => {
    const retailerId = randomUUID();
    const path = `/platform/retailers/${retailerId}`;
    await platform.api.call('PUT', path, { ...asPlatform(), body: { name } });
    return retailerId;
  };

  test('and the integration alone gets integrationEnabled, signed in X-INTEGRATION-SIGNATURE', async () => {
    const retailerId = await registerRetailer('Aurora Auto');
    const configJson = { dealerCode: 'H-1047', locations: ['MONTREAL', 'LAVAL'] };
    const answer = await enable(retailerId, { configJson });
    const { integrationId, webhookSecret } = platform.demo;
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ integrationId, retailerId, status: 'ENABLED' });

    const [webhook] = await platform.inbox.waitFor(1);
    expect(webhook?.path).toBe('/integration-enabled');
    const { body = '', headers = {} } = webhook ?? {};
    expect(JSON.parse(body)).toEqual({ retailerId, retailerName: 'Aurora Auto', configJson });
    expect(headers['x-integration-signature']).toBe(hexSignature(webhookSecret, body));
    expect(headers['x-service-signature']).toBeUndefined();
    expect(() => new Webhook(webhookSecret).verify(body, headers)).not.toThrow();
    await platform.settle();
    expect(await platform.inbox.list()).toHaveLength(1);
  });

  test('and can be acted for from then on; the same enabling again sends no webhook', async () => {
    const retailerId = await registerRetailer('Aurora Trucks');
    const create = () => platform.api.post('/applications', makeApplication(retailerId));
    expect((await create()).status).toBe(404);
    const headers = { 'Idempotency-Key': randomUUID() };
    await enable(retailerId, undefined, headers);
    await eventually(
      'application of the retailer',
      async () => ((await create()).status === 201 ? true : undefined),
      ACCESS_CHANGES_WITHIN_MS,
    );
    const repeated = await enable(retailerId, undefined, headers);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect((await enable(retailerId)).status).toBe(200);
    await platform.settle();
    const webhooks = await platform.inbox.list();
    expect(webhooks.map(({ body }) => JSON.parse(body))).toEqual([
      { retailerId, retailerName: 'Aurora Trucks' },
    ]);
  });

  test('and an integration cannot enable itself, nor a retailer that does not exist be enabled', async () => {
    const path = `/platform/integrations/${platform.demo.integrationId}/retailers/${platform.demo.otherTenant.retailerId}`;
    const own = await platform.api.post(`${path}/enable`, {});
    expect([own.status, own.body.code]).toEqual([401, 'key_kind_not_accepted']);
    const unknown = await enable(randomUUID());
    expect([unknown.status, unknown.body.code]).toEqual([404, 'retailer_not_found']);
  });
});
