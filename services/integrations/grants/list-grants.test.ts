import { randomUUID } from 'node:crypto';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { GrantSide } from '@creditlane/proto/integrations/v1/integrations_service';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  asGateway,
  asPlatform,
  registerTestIntegration,
  useIntegrations,
} from '../test-integrations.ts';

const fixture = useIntegrations();

let integrationId: string;
beforeEach(async () => {
  integrationId = await registerTestIntegration(fixture);
});

const list = (
  side: GrantSide,
  query: { limit?: number; cursor?: string } = {},
  id = integrationId,
) => fixture.access.listGrants({ integrationId: id, side, limit: 25, ...query }, asGateway);

async function grantRetailer(
  granted = true,
  retailerId: string = randomUUID(),
  id = integrationId,
) {
  const grant = { integrationId: id, retailerId, granted };
  await fixture.integrations.grantRetailer(grant, asPlatform);
  return retailerId;
}

async function grantCreditor(granted = true, creditorId: string = randomUUID()) {
  await fixture.integrations.grantCreditor({ integrationId, creditorId, granted }, asPlatform);
  return creditorId;
}

describe('the grants of an integration', () => {
  test('are its own on the asked side, without those that were revoked', async () => {
    const retailerIds = [await grantRetailer(), await grantRetailer()];
    const revoked = await grantRetailer();
    await grantRetailer(false, revoked);
    const again = await grantRetailer();
    await grantRetailer(false, again);
    await grantRetailer(true, again);
    const creditorId = await grantCreditor();
    await grantRetailer(true, randomUUID(), await registerTestIntegration(fixture));

    const { grants, nextCursor } = await list(GrantSide.RETAILER);
    expect(grants.map(({ id }) => id)).toEqual([...retailerIds, again].toSorted());
    expect(nextCursor).toBe('');
    for (const { grantedAt, disabled } of grants) {
      expect(grantedAt && timestampDate(grantedAt).getTime()).toBeGreaterThan(0);
      expect(disabled).toBe(false);
    }
    const ofCreditors = await list(GrantSide.CREDITOR, {}, integrationId.toUpperCase());
    expect(ofCreditors.grants.map(({ id }) => id)).toEqual([creditorId]);
  });

  test('are none for an integration that has none or does not exist', async () => {
    for (const id of [integrationId, randomUUID()]) {
      expect(await list(GrantSide.RETAILER, {}, id)).toMatchObject({ grants: [], nextCursor: '' });
    }
  });

  test('show a creditor for which the integration is disabled as such', async () => {
    const [disabled, enabled] = [await grantCreditor(), await grantCreditor()];
    await fixture.sql.query(
      'UPDATE creditor_grants SET disabled_at = now() WHERE creditor_id = $1',
      [disabled],
    );
    const { grants } = await list(GrantSide.CREDITOR);
    expect(new Map(grants.map((grant) => [grant.id, grant.disabled]))).toEqual(
      new Map([
        [disabled, true],
        [enabled, false],
      ]),
    );
  });

  test.each([1, 2, 100])('in pages of %i are each on one page', async (limit) => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push(await grantRetailer());
    const found: string[] = [];
    let cursor = '';
    do {
      const page = await list(GrantSide.RETAILER, { limit, cursor });
      found.push(...page.grants.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== '');
    expect(found).toEqual(ids.toSorted());
  });

  test('are not listed from a cursor of the other side or of another integration', async () => {
    await grantRetailer();
    await grantRetailer();
    const { nextCursor: cursor } = await list(GrantSide.RETAILER, { limit: 1 });
    const refused = { kind: 'invalid', code: 'invalid_cursor' };
    await expect(list(GrantSide.CREDITOR, { cursor })).rejects.toMatchObject(refused);
    const other = await registerTestIntegration(fixture);
    await expect(list(GrantSide.RETAILER, { cursor }, other)).rejects.toMatchObject(refused);
  });

  test('are read by the gateway only', async () => {
    const request = { integrationId, side: GrantSide.RETAILER, limit: 25 };
    await expect(fixture.access.listGrants(request, asPlatform)).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });

  test('are refused for a side that is not specified', async () => {
    await expect(list(GrantSide.UNSPECIFIED)).rejects.toMatchObject({
      fields: [{ pointer: '/side' }],
    });
  });
});
