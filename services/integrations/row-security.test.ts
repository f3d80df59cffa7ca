import { randomUUID } from 'node:crypto';
import { NIL_UUID } from '@creditlane/runtime/ids';
import {
  findBreaches,
  listUnsecuredTables,
  listUpdatedColumns,
} from '@creditlane/service/test-row-security';
import { expect, test } from 'vitest';
import { findEnablement } from './store/enablements.ts';
import { findGrants, revokeGrant, saveGrant } from './store/grants.ts';
import { integrationExists } from './store/integrations.ts';
import { revokeKey } from './store/keys.ts';
import { lockSecret } from './store/previous-secrets.ts';
import { asPlatform, registerTestIntegration, useIntegrations } from './test-integrations.ts';

const fixture = useIntegrations();

/** A new integration with a row in every table of its own, and a stored answer of `caller`. */
async function createIntegration(caller: string) {
  const { integrations, enablement, applications } = fixture;
  const integrationId = await registerTestIntegration(fixture);
  const [retailerId, creditorId] = [randomUUID(), randomUUID()];
  const as = { identity: { ...asPlatform.identity, subject: caller }, idempotencyKey: 'key' };
  const { keyId } = await integrations.issueKey({ integrationId }, as);
  await integrations.grantCreditor({ integrationId, creditorId, granted: true }, asPlatform);
  applications.retailers.set(retailerId, 'Harbour Motors');
  await enablement.enableForRetailer({ integrationId, retailerId }, asPlatform);
  await integrations.setDestination({ integrationId, url: 'https://a.example/' }, asPlatform);
  await integrations.rotateSecret({ integrationId, overlapHours: 24 }, asPlatform);
  return { integrationId, retailerId, creditorId, keyId };
}

test('every table is under row security, or out of the reach of requests', async () => {
  expect(await listUnsecuredTables(fixture.database)).toEqual({
    // TypeORM's list of the migrations that were run.
    migrations: [],
    // The quotas of keys, which the gateway takes for any caller before it knows whom the caller acts for.
    rate_limits: [],
    // Of libs/messaging: only the service itself reads events, and requests can do no more than add some.
    outbox: ['INSERT'],
    outbox_lease: [],
    // The audit of platform acts: requests can do no more than add to it.
    platform_acts: ['INSERT'],
  });
});

test('a request changes nothing of an API key but its revocation', async () => {
  expect(await listUpdatedColumns(fixture.database, 'keys')).toEqual(['revoked_at']);
});

test('without their filter, statements for one integration reach no row of another', async () => {
  const scopeOfNew = async () => {
    const caller = randomUUID();
    const { integrationId } = await createIntegration(caller);
    return { integrations: [integrationId], callers: [caller] };
  };
  const tenants = { own: await scopeOfNew(), foreign: await scopeOfNew() };
  expect(await findBreaches(fixture.database, tenants)).toEqual([]);
});

test('a statement that names an integration outside the scope finds and changes nothing', async () => {
  const { requests, sql } = fixture.database;
  const { integrationId, creditorId, keyId } = await createIntegration(randomUUID());
  const foreign = requests.within({ integrations: [await registerTestIntegration(fixture)] });
  const own = requests.within({ integrations: [integrationId] });
  const now = new Date();
  const page = { integrationId, after: NIL_UUID, limit: 10 };

  for (const [db, found] of [
    [foreign, false],
    [requests.within({}), false],
    [own, true],
  ] as const) {
    expect(await integrationExists(db, integrationId)).toBe(found);
    expect((await findGrants(db, 'creditor', page)).length).toBe(found ? 1 : 0);
    expect((await lockSecret(db, integrationId)) !== undefined).toBe(found);
    expect((await findEnablement(db, integrationId, creditorId)) !== undefined).toBe(found);
    const saved = saveGrant(db, 'creditor', integrationId, randomUUID(), now);
    if (found) await saved;
    else await expect(saved).rejects.toMatchObject({ code: '42501' });
    expect(await revokeKey(db, integrationId, keyId, now)).toBe(found);
    await revokeGrant(db, 'creditor', integrationId, creditorId, now);
    const { rows } = await sql.query(
      'SELECT revoked_at FROM creditor_grants WHERE creditor_id = $1',
      [creditorId],
    );
    expect(rows).toEqual([{ revoked_at: found ? now : null }]);
  }
});
