import { randomBytes, randomUUID } from 'node:crypto';
import { seal } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { migrate } from '@creditlane/postgres/migrate';
import { EnablementStatus } from '@creditlane/proto/integrations/v1/enablement_service';
import { silentLog } from '@creditlane/runtime/test-log';
import { expect, test } from 'vitest';
import { integrations1763700000000 } from './migrations/0001-integrations.ts';
import { destinationRevision1763800000000 } from './migrations/0002-destination-revision.ts';
import { sealedSecrets } from './store/sealed-tables.ts';
import {
  asDispatcher,
  asGateway,
  asPlatform,
  OLD_KEY_RING,
  readDestination,
  useIntegrations,
} from './test-integrations.ts';

/** The migrations of the last release. */
const RELEASED = [integrations1763700000000, destinationRevision1763800000000];

const [integrationId, destinationId] = [randomUUID(), randomUUID()];
const [grantedId, disabledId] = [randomUUID(), randomUUID()];
const key = randomBytes(32);
const secret = `whsec_${key.toString('base64')}`;

/** A destination and two grants as the last release stores them, one of them disabled by an operator. */
const fixture = useIntegrations(async ({ url, sql }) => {
  await migrate(url, RELEASED, silentLog);
  await sql.query('INSERT INTO integrations VALUES ($1, $2, $3, now())', [
    integrationId,
    'DealerDesk',
    [],
  ]);
  const context = sealedSecrets.context(destinationId, integrationId);
  await sql.query(
    `INSERT INTO destinations (id, integration_id, url, sealed_secret, sealed_with, created_at, revision)
     VALUES ($1, $2, 'https://a.example/', $3, 'old', now(), 4)`,
    [destinationId, integrationId, seal(KeyRing.parse(OLD_KEY_RING), key, context)],
  );
  await sql.query(
    `INSERT INTO creditor_grants (integration_id, creditor_id, granted_at, disabled_at)
     VALUES ($1, $2, now(), NULL), ($1, $3, now(), now())`,
    [integrationId, grantedId, disabledId],
  );
});

test('a destination of the last release keeps its secret, which can be rotated', async () => {
  const url = 'https://a.example/';
  expect(await readDestination(fixture, destinationId)).toEqual({
    url,
    revision: 4,
    secrets: [secret],
  });
  const rotated = await fixture.integrations.rotateSecret(
    { integrationId, overlapHours: 24 },
    asPlatform,
  );
  expect(await readDestination(fixture, destinationId)).toEqual({
    url,
    revision: 4,
    secrets: [rotated.secret, secret],
  });
});

test('a destination of the last release gets every event', async () => {
  const request = { integrationIds: [integrationId], events: ['applicationBooked'] };
  const { byIntegration } = await fixture.destinations.findIntegrationRecipients(
    request,
    asDispatcher,
  );
  expect(byIntegration).toMatchObject([{ recipients: [{ destinationId, revision: 4 }] }]);
});

test('the grants of the last release have an enablement, without a status or DISABLED', async () => {
  const read = async (creditorId: string) => {
    const identity = { kind: 'integration', subject: integrationId, permissions: [] } as const;
    const context = { identity: { ...identity, creditorId } };
    const found = await fixture.enablement.getIntegrationEnablement({ creditorId }, context);
    const granted = await fixture.access.checkGrants({ integrationId, creditorId }, asGateway);
    return [EnablementStatus[found.status], found.setAt !== undefined, granted.creditor];
  };
  expect(await read(grantedId)).toEqual(['UNSPECIFIED', false, true]);
  expect(await read(disabledId)).toEqual(['DISABLED', true, false]);
});
