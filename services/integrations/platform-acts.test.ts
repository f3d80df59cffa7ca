import { randomUUID } from 'node:crypto';
import { Permission } from '@creditlane/proto/integrations/v1/integrations_service';
import { expect, test } from 'vitest';
import { asPlatform, useIntegrations } from './test-integrations.ts';

const fixture = useIntegrations();
const asAuditor = { identity: { ...asPlatform.identity, permissions: ['READ_AUDIT'] } };

const actsOf = async (id: string) => {
  const { acts } = await fixture.acts.listPlatformActs({ limit: 101 }, asAuditor);
  return acts
    .filter(({ integrationId }) => integrationId === id)
    .map(({ $typeName: _, actId: __, at, ...act }) => {
      expect(at).toBeDefined();
      return Object.fromEntries(Object.entries(act).filter(([, value]) => value?.length !== 0));
    })
    .toReversed();
};

test('each change of an integration is recorded once, with who made it and for which request', async () => {
  const { integrations, enablement, applications } = fixture;
  const [integrationId, retailerId, creditorId] = [randomUUID(), randomUUID(), randomUUID()];
  applications.retailers.set(retailerId, 'Harbour Motors');
  const as = (idempotencyKey?: string) => ({ ...asPlatform, requestId: 'r-1', idempotencyKey });
  const registration = { integrationId, name: 'DealerDesk', permissions: [Permission.READ_SIN] };
  for (const _ of ['first', 'repeated']) {
    await integrations.registerIntegration(registration, as());
    await integrations.registerIntegration(registration, as('key'));
  }
  await integrations.changeIntegration({ integrationId, name: 'DealerDesk' }, as());
  const keys = [];
  for (const _ of ['first', 'repeated']) {
    keys.push(await integrations.issueKey({ integrationId }, as('key')));
  }
  const [{ keyId } = { keyId: '' }] = keys;
  await integrations.revokeKey({ integrationId, keyId }, as());
  await integrations.grantRetailer({ integrationId, retailerId, granted: true }, as());
  await integrations.grantRetailer({ integrationId, retailerId, granted: false }, as());
  await enablement.enableForRetailer({ integrationId, retailerId }, as());
  await integrations.grantCreditor({ integrationId, creditorId, granted: true }, as());
  await integrations.grantCreditor({ integrationId, creditorId, granted: false }, as());
  await integrations.setDestination({ integrationId, url: 'https://a.example/' }, as());
  await integrations.rotateSecret({ integrationId, overlapHours: 1 }, as());
  await integrations.removeDestination({ integrationId }, as());
  const by = { actor: 'platform', requestId: 'r-1', integrationId };
  expect(await actsOf(integrationId)).toEqual([
    { ...by, action: 'INTEGRATION_REGISTERED', permissions: ['READ_SIN'] },
    { ...by, action: 'INTEGRATION_CHANGED' },
    { ...by, action: 'KEY_ISSUED', keyId },
    { ...by, action: 'KEY_REVOKED', keyId },
    { ...by, action: 'RETAILER_GRANTED', retailerId },
    { ...by, action: 'RETAILER_WITHDRAWN', retailerId },
    { ...by, action: 'RETAILER_ENABLED', retailerId },
    { ...by, action: 'CREDITOR_GRANTED', creditorId },
    { ...by, action: 'CREDITOR_WITHDRAWN', creditorId },
    { ...by, action: 'DESTINATION_SET' },
    { ...by, action: 'SECRET_ROTATED' },
    { ...by, action: 'DESTINATION_REMOVED' },
  ]);
});

test('a refused change is not recorded', async () => {
  const { integrations } = fixture;
  const integrationId = randomUUID();
  await integrations.registerIntegration({ integrationId, name: 'DealerDesk' }, asPlatform);
  const refused = [
    integrations.registerIntegration({ integrationId, name: 'Other' }, asPlatform),
    integrations.revokeKey({ integrationId, keyId: randomUUID() }, asPlatform),
    integrations.rotateSecret({ integrationId, overlapHours: 1 }, asPlatform),
  ];
  for (const { status } of await Promise.allSettled(refused)) expect(status).toBe('rejected');
  expect(await actsOf(integrationId)).toMatchObject([{ action: 'INTEGRATION_REGISTERED' }]);
});

test('only the platform with READ_AUDIT reads the acts', async () => {
  const refused = fixture.acts.listPlatformActs({ limit: 1 }, asPlatform);
  await expect(refused).rejects.toMatchObject({ kind: 'forbidden', code: 'permission_missing' });
});

test.each([
  'UPDATE platform_acts SET actor = actor',
  'DELETE FROM platform_acts',
  'TRUNCATE platform_acts',
])('%s is refused, also once the owner has granted itself the privilege', async (statement) => {
  const { sql } = fixture;
  const integrationId = randomUUID();
  await fixture.integrations.registerIntegration({ integrationId, name: 'DealerDesk' }, asPlatform);
  await expect(sql.query(statement)).rejects.toMatchObject({ code: '42501' });
  await sql.query('GRANT UPDATE, DELETE, TRUNCATE ON platform_acts TO CURRENT_USER');
  await expect(sql.query(statement)).rejects.toMatchObject({ code: '23001' });
  await sql.query('REVOKE UPDATE, DELETE, TRUNCATE ON platform_acts FROM CURRENT_USER');
});
