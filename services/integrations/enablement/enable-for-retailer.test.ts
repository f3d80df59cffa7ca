import { randomUUID } from 'node:crypto';
import { runPurge } from '@creditlane/postgres/retention';
import type { CallContext } from '@creditlane/rpc/client';
import { beforeEach, describe, expect, test } from 'vitest';
import { purgeRetailerEnablements } from '../store/retailer-enablements.ts';
import {
  asDispatcher,
  asGateway,
  asPlatform,
  registerTestIntegration,
  useIntegrations,
} from '../test-integrations.ts';

const fixture = useIntegrations();

let integrationId: string;
let retailerId: string;
beforeEach(async () => {
  integrationId = await registerTestIntegration(fixture);
  retailerId = randomUUID();
  fixture.applications.isUnavailable = false;
  fixture.applications.retailers.set(retailerId, 'Harbour Motors');
});

const enable = (config?: object, context: Partial<CallContext> = {}) =>
  fixture.enablement.enableForRetailer(
    { integrationId, retailerId, configJson: config === undefined ? '' : JSON.stringify(config) },
    { ...asPlatform, ...context },
  );

const grant = (granted: boolean) =>
  fixture.integrations.grantRetailer({ integrationId, retailerId, granted }, asPlatform);

const isGranted = async () =>
  (await fixture.access.checkGrants({ integrationId, retailerId }, asGateway)).retailer;

/** The published events of this test's integration. */
async function events() {
  await fixture.settled();
  return fixture.events.filter((event) => event.integrationId === integrationId);
}

/** What the webhook of each event contains. */
async function contents() {
  const ids = (await events()).map(({ enablementId }) => enablementId);
  return Promise.all(ids.map((enablementId) => readContent(enablementId)));
}

async function readContent(enablementId: string) {
  const request = { enablementId };
  const { $typeName: _, ...content } = await fixture.enablementAsDispatcher.getRetailerEnablement(
    request,
    asDispatcher,
  );
  return content;
}

describe('a retailer that enables an integration', () => {
  test('grants itself to the integration, and one event reports it', async () => {
    expect(await isGranted()).toBe(false);
    await enable({ dealerCode: 'H-7' });
    expect(await isGranted()).toBe(true);
    const published = await events();
    expect(published).toMatchObject([
      { retailerId, integrationId, key: `${integrationId} ${retailerId}` },
    ]);
    expect(published[0]?.enabledAt).toBeDefined();
    expect(await contents()).toEqual([
      { retailerId, retailerName: 'Harbour Motors', configJson: '{"dealerCode":"H-7"}' },
    ]);
  });

  test('again with an equal configuration changes nothing, and no event is published', async () => {
    await enable({ a: 1, b: [{ c: null, d: 2 }] });
    await enable({ b: [{ d: 2, c: null }], a: 1 });
    fixture.applications.retailers.set(retailerId, 'Harbour Motors of Montreal');
    await enable({ a: 1, b: [{ c: null, d: 2 }] });
    expect(await contents()).toMatchObject([{ retailerName: 'Harbour Motors' }]);
  });

  test('with another configuration replaces the earlier one, and each event keeps its content', async () => {
    await enable({ a: [1, 2] });
    fixture.applications.retailers.set(retailerId, 'Harbour Motors of Montreal');
    await enable({ a: [2, 1] });
    await enable();
    await enable();
    expect(await contents()).toEqual([
      { retailerId, retailerName: 'Harbour Motors', configJson: '{"a":[1,2]}' },
      { retailerId, retailerName: 'Harbour Motors of Montreal', configJson: '{"a":[2,1]}' },
      { retailerId, retailerName: 'Harbour Motors of Montreal', configJson: '' },
    ]);
    expect(await isGranted()).toBe(true);
  });

  test('after a withdrawal is granted again, and an event reports it, also after a grant by the platform', async () => {
    await enable({ a: 1 });
    await grant(false);
    expect(await isGranted()).toBe(false);
    await enable({ a: 1 });
    expect(await isGranted()).toBe(true);
    expect(await events()).toHaveLength(2);
    await grant(false);
    await grant(true);
    await enable({ a: 1 });
    expect(await events()).toHaveLength(3);
  });

  test('after a grant by the platform is reported, and keeps the time of the grant', async () => {
    await grant(true);
    const grantedAt = async () =>
      (
        await fixture.sql.query('SELECT granted_at FROM retailer_grants WHERE retailer_id = $1', [
          retailerId,
        ])
      ).rows;
    const before = await grantedAt();
    await enable();
    expect(await grantedAt()).toEqual(before);
    expect(await events()).toHaveLength(1);
    await grant(true);
    await enable();
    expect(await events()).toHaveLength(1);
  });

  test('at the same time several times, with equal configurations, is reported once', async () => {
    await Promise.all(Array.from({ length: 6 }, () => enable({ a: 1 })));
    expect(await events()).toHaveLength(1);
  });

  test('at the same time with two configurations is reported in the order of the writes', async () => {
    await Promise.all([1, 2, 1, 2, 1, 2].map((a) => enable({ a })));
    const published = await contents();
    for (const [index, { configJson }] of published.entries()) {
      expect(configJson).not.toBe(published[index - 1]?.configJson);
    }
    const last = (await events()).at(-1);
    const { rows } = await fixture.sql.query(
      'SELECT enablement_id FROM retailer_grants WHERE retailer_id = $1',
      [retailerId],
    );
    expect(rows).toEqual([{ enablement_id: last?.enablementId }]);
  });

  test('repeated with its idempotency key is reported once, also after a withdrawal', async () => {
    let replays = 0;
    const onReplayed = () => {
      replays += 1;
    };
    const context = { idempotencyKey: randomUUID(), onReplayed };
    await enable({ a: 1 }, context);
    await grant(false);
    await enable({ a: 1 }, context);
    expect([replays, await isGranted(), (await events()).length]).toEqual([1, false, 1]);
    await expect(enable({ a: 2 }, context)).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
  });
});

test('a repeated enabling gets its answer while the applications service is unavailable', async () => {
  const context = { idempotencyKey: randomUUID() };
  await enable({ a: 1 }, context);
  fixture.applications.isUnavailable = true;
  await enable({ a: 1 }, context);
  await expect(enable({ a: 1 })).rejects.toMatchObject({ kind: 'unavailable' });
});

describe('an enabling is refused', () => {
  test('for a retailer and for an integration that do not exist', async () => {
    fixture.applications.retailers.delete(retailerId);
    await expect(enable()).rejects.toMatchObject({ kind: 'not_found', code: 'retailer_not_found' });
    integrationId = randomUUID();
    await expect(enable()).rejects.toMatchObject({ code: 'integration_not_found' });
    expect(await isGranted()).toBe(false);
  });

  test('while the applications service is unavailable, and nothing is written', async () => {
    fixture.applications.isUnavailable = true;
    const context = { idempotencyKey: randomUUID() };
    await expect(enable({ a: 1 }, context)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(fixture.isReady()).toBe(true);
    expect([await isGranted(), await events()]).toEqual([false, []]);
    fixture.applications.isUnavailable = false;
    await enable({ a: 1 }, context);
    expect(await events()).toHaveLength(1);
  });

  test('for an integration, and for a platform key without the permission', async () => {
    const kind = 'integration' as const;
    const own = { identity: { kind, subject: integrationId, permissions: [], retailerId } };
    await expect(enable(undefined, own)).rejects.toMatchObject({ kind: 'forbidden' });
    const identity = { ...asPlatform.identity, permissions: ['MANAGE_DIRECTORY'] };
    await expect(enable(undefined, { identity })).rejects.toMatchObject({ kind: 'forbidden' });
  });

  const nested = (levels: number) => '{"a":'.repeat(levels) + 1 + '}'.repeat(levels);
  test.each([
    ['an array', '[]', 'must be an object'],
    ['null', 'null', 'must be an object'],
    ['no JSON', '{"secret', 'must be an object'],
    ['17 levels', nested(17), 'must have at most 16 levels'],
    ['arrays in 17 levels', `{"a":${'['.repeat(16)}${']'.repeat(16)}}`, 'must have at most 16'],
    [
      'more than 32 KiB',
      JSON.stringify({ a: 'é'.repeat(16_384) }),
      'must have at most 32768 bytes',
    ],
  ])(
    'with %s as configuration, which the refusal does not repeat',
    async (_, configJson, message) => {
      const request = { integrationId, retailerId, configJson };
      await expect(fixture.enablement.enableForRetailer(request, asPlatform)).rejects.toMatchObject(
        {
          kind: 'invalid',
          code: 'invalid_configuration',
          fields: [{ pointer: '/configJson', message: expect.stringContaining(message) }],
        },
      );
      expect(await isGranted()).toBe(false);
    },
  );

  test('not with 16 levels and 32 KiB', async () => {
    await enable(JSON.parse(nested(16)));
    await enable({ a: 'x'.repeat(32_768 - 8) });
    expect(await events()).toHaveLength(2);
  });
});

test('an enablement that is no longer in force is deleted after 60 days, and one in force never', async () => {
  await enable({ a: 1 });
  await enable({ a: 2 });
  await fixture.sql.query(
    `UPDATE retailer_enablements SET enabled_at = now() - interval '59 days' WHERE retailer_id = $1`,
    [retailerId],
  );
  expect(await contents()).toHaveLength(2);
  await runPurge(fixture.sql, purgeRetailerEnablements);
  expect(await contents()).toHaveLength(2);
  await fixture.sql.query(
    `UPDATE retailer_enablements SET enabled_at = now() - interval '61 days' WHERE retailer_id = $1`,
    [retailerId],
  );
  await runPurge(fixture.sql, purgeRetailerEnablements);
  const [replaced, inForce] = await events();
  await expect(readContent(replaced?.enablementId ?? '')).rejects.toMatchObject({
    code: 'enablement_not_found',
  });
  expect(await readContent(inForce?.enablementId ?? '')).toMatchObject({ configJson: '{"a":2}' });
});
