import { randomBytes, randomUUID } from 'node:crypto';
import { digestApiKey, generateApiKey } from '@creditlane/crypto/api-key';
import { readKeyId } from '@creditlane/crypto/envelope';
import { createTestDatabase, type TestDatabase } from '@creditlane/postgres/test-database';
import { Caller } from '@creditlane/proto/common/v1/access';
import {
  AccessService,
  DestinationsService,
  IntegrationsService,
  Permission,
} from '@creditlane/proto/integrations/v1/integrations_service';
import { type Identity, serviceIdentity } from '@creditlane/rpc/identity';
import { mountForTest } from '@creditlane/rpc/test-mount';
import { readSettings } from '@creditlane/runtime/setting';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { localSettings } from '@creditlane/service/settings';
import { startService } from '@creditlane/service/start-service';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { integrations } from './service.ts';

const platformKey = generateApiKey(false);
const OLD_KEY = `old:${randomBytes(32).toString('base64')}`;
const NEW_KEY = `new:${randomBytes(32).toString('base64')}`;

let database: TestDatabase;
let world: Awaited<ReturnType<typeof start>>;

beforeAll(async () => {
  database = await createTestDatabase('integrations');
  world = await start(OLD_KEY);
});

afterAll(async () => {
  await world?.close();
  await database?.drop();
});

async function start(keyRing: string) {
  const process = createTestProcess('integrations');
  const env = {
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '4',
    KEY_RING: keyRing,
    PLATFORM_KEY_DIGESTS: digestApiKey(platformKey).toString('hex'),
    DESTINATIONS_PORTS: '443',
  };
  const values = readSettings(env, localSettings(integrations));
  const { routes = [] } = await startService(integrations, values, { process });
  const client = mountForTest('integrations', routes, ['gateway', 'webhook-dispatcher'], process);
  return {
    integrations: client(IntegrationsService, 'gateway'),
    access: client(AccessService, 'gateway'),
    destinations: client(DestinationsService, 'webhook-dispatcher'),
    ready: () => process.health.ready().ready,
    close: () => process.closers.close(),
  };
}

const asPlatform: { identity: Identity } = {
  identity: { kind: 'platform', subject: 'platform', permissions: ['MANAGE_INTEGRATIONS'] },
};
const asGateway = { identity: serviceIdentity('gateway') };
const asDispatcher = { identity: serviceIdentity('webhook-dispatcher') };

const authenticate = (key: string) =>
  world.access.authenticate({ keyDigest: digestApiKey(key) }, asGateway);

async function registered(permissions: Permission[] = []): Promise<string> {
  const integrationId = randomUUID();
  const request = { integrationId, name: 'DealerDesk', permissions };
  await world.integrations.registerIntegration(request, asPlatform);
  return integrationId;
}

describe('a key', () => {
  let integrationId: string;
  beforeEach(async () => {
    integrationId = await registered([Permission.ENQUEUE_RETAILER_CHAT]);
  });

  test('opens what its integration may do, until it is revoked', async () => {
    const { key, keyId } = await world.integrations.issueKey({ integrationId }, asPlatform);
    expect(await authenticate(key)).toMatchObject({
      callerId: integrationId,
      caller: Caller.INTEGRATION,
      permissions: ['ENQUEUE_RETAILER_CHAT'],
    });
    await world.integrations.revokeKey({ integrationId, keyId }, asPlatform);
    await expect(authenticate(key)).rejects.toMatchObject({ kind: 'unauthenticated' });
    // To revoke it once more changes nothing, not even the time.
    await world.integrations.revokeKey({ integrationId, keyId }, asPlatform);
  });

  test('is the same one again for a call repeated under its idempotency key', async () => {
    let replayed = false;
    const context = {
      ...asPlatform,
      idempotencyKey: randomUUID(),
      onReplayed: () => {
        replayed = true;
      },
    };
    const first = await world.integrations.issueKey({ integrationId }, context);
    expect(replayed).toBe(false);
    expect(await world.integrations.issueKey({ integrationId }, context)).toEqual(first);
    expect(replayed).toBe(true);
    await expect(
      world.integrations.issueKey({ integrationId, live: true }, context),
    ).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  test('outlives the others of its integration', async () => {
    const { key } = await world.integrations.issueKey({ integrationId, live: true }, asPlatform);
    const other = await world.integrations.issueKey({ integrationId }, asPlatform);
    await world.integrations.revokeKey({ integrationId, keyId: other.keyId }, asPlatform);
    expect(key).toMatch(/^cl_live_/);
    expect(await authenticate(key)).toMatchObject({ callerId: integrationId });
  });

  test('follows its integration when that one gets other permissions', async () => {
    const { key } = await world.integrations.issueKey({ integrationId }, asPlatform);
    const request = { integrationId, name: 'DealerDesk', permissions: [] };
    await world.integrations.registerIntegration(request, asPlatform);
    expect((await authenticate(key)).permissions).toEqual([]);
  });

  test('is revoked by its own integration’s name only', async () => {
    const { key, keyId } = await world.integrations.issueKey({ integrationId }, asPlatform);
    const other = { integrationId: await registered(), keyId };
    await expect(world.integrations.revokeKey(other, asPlatform)).rejects.toMatchObject({
      kind: 'not_found',
      code: 'key_not_found',
    });
    expect(await authenticate(key)).toMatchObject({ callerId: integrationId });
  });

  test('that nobody issued opens nothing', async () => {
    await expect(authenticate(generateApiKey(true))).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
  });

  test('of the platform carries the platform’s permissions and an id of its own', async () => {
    const answer = await authenticate(platformKey);
    expect(answer).toMatchObject({
      caller: Caller.PLATFORM,
      permissions: ['MANAGE_DIRECTORY', 'MANAGE_INTEGRATIONS'],
    });
    expect(answer.callerId).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });
});

describe('a registration', () => {
  const register = async (request: object, idempotencyKey?: string) => {
    let replayed = false;
    const onReplayed = () => {
      replayed = true;
    };
    const context = { ...asPlatform, idempotencyKey, onReplayed };
    const answer = await world.integrations.registerIntegration(
      { name: 'DealerDesk', ...request },
      context,
    );
    return { id: answer.integrationId, replayed };
  };
  const stored = async (id: string) =>
    (await database.sql.query('SELECT name, permissions FROM integrations WHERE id = $1', [id]))
      .rows;

  test('makes the id where none is given, a new one each time', async () => {
    const [one, two] = [await register({}), await register({})];
    expect(await stored(one.id)).toEqual([{ name: 'DealerDesk', permissions: [] }]);
    expect(two.id).not.toBe(one.id);
  });

  test('repeated under its idempotency key is the same one, and changes nothing', async () => {
    const key = randomUUID();
    const first = await register({}, key);
    expect(first.replayed).toBe(false);
    await register({ integrationId: first.id.toUpperCase(), name: 'Renamed' });
    expect(await register({}, key)).toEqual({ id: first.id, replayed: true });
    expect(await stored(first.id)).toMatchObject([{ name: 'Renamed' }]);
    for (const other of [{ name: 'Other' }, { integrationId: first.id }]) {
      const refusal = { kind: 'invalid', code: 'idempotency_key_reused' };
      await expect(register(other, key)).rejects.toMatchObject(refusal);
    }
    expect((await register({}, randomUUID())).id).not.toBe(first.id);
  });

  test('under a key used for something else of the platform’s is its own', async () => {
    const key = randomUUID();
    const { id: integrationId } = await register({}, key);
    const context = { ...asPlatform, idempotencyKey: key };
    expect((await world.integrations.issueKey({ integrationId }, context)).key).toMatch(/^cl_/);
  });
});

describe('a grant', () => {
  let integrationId: string;
  const retailerId = randomUUID();
  const creditorId = randomUUID();
  beforeEach(async () => {
    integrationId = await registered();
  });

  const check = (asked: { retailerId?: string; creditorId?: string }) =>
    world.access.checkGrants({ integrationId, ...asked }, asGateway);

  test('lets its own integration in, on its own side, until it is taken away', async () => {
    expect(await check({ retailerId, creditorId })).toMatchObject({
      retailer: false,
      creditor: false,
    });
    const retailer = { integrationId, retailerId };
    await world.integrations.grantRetailer({ ...retailer, granted: true }, asPlatform);
    expect(await check({ retailerId, creditorId })).toMatchObject({
      retailer: true,
      creditor: false,
    });
    expect(await check({ retailerId: creditorId, creditorId: retailerId })).toMatchObject({
      retailer: false,
      creditor: false,
    });
    await world.integrations.grantRetailer({ ...retailer, granted: false }, asPlatform);
    expect(await check({ retailerId })).toMatchObject({ retailer: false });
    await world.integrations.grantRetailer({ ...retailer, granted: true }, asPlatform);
    expect(await check({ retailerId: retailerId.toUpperCase() })).toMatchObject({ retailer: true });
  });

  test('given twice is one grant', async () => {
    const creditor = { integrationId, creditorId, granted: true };
    await world.integrations.grantCreditor(creditor, asPlatform);
    await world.integrations.grantCreditor(creditor, asPlatform);
    expect(await check({ creditorId })).toMatchObject({ creditor: true });
    await world.integrations.grantCreditor({ ...creditor, granted: false }, asPlatform);
    expect(await check({ creditorId })).toMatchObject({ creditor: false });
  });

  test('on a creditor opens nothing while the integration is disabled there, granted again or not', async () => {
    const creditor = { integrationId, creditorId, granted: true };
    await world.integrations.grantCreditor(creditor, asPlatform);
    await database.sql.query(
      'UPDATE creditor_grants SET disabled_at = now() WHERE integration_id = $1',
      [integrationId],
    );
    expect(await check({ creditorId })).toMatchObject({ creditor: false });
    await world.integrations.grantCreditor({ ...creditor, granted: false }, asPlatform);
    await world.integrations.grantCreditor(creditor, asPlatform);
    expect(await check({ creditorId })).toMatchObject({ creditor: false });
  });

  test('is never held on a text that is no UUID', async () => {
    expect(await check({ retailerId: 'R-17', creditorId: '' })).toMatchObject({
      retailer: false,
      creditor: false,
    });
  });
});

describe('a destination', () => {
  const url = 'https://hooks.dealerdesk.example/creditlane';
  let integrationId: string;
  beforeEach(async () => {
    integrationId = await registered();
  });

  const set = (to: string) =>
    world.integrations.setDestination({ integrationId, url: to }, asPlatform);

  test('gets its secret once, and keeps it when it moves', async () => {
    const first = await set(url);
    expect(first.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const moved = await set(`${url}/v2`);
    expect(moved).toMatchObject({ destinationId: first.destinationId, secret: '' });
    const { destinations } = await world.destinations.getDestinations(
      { destinationIds: [first.destinationId, randomUUID()] },
      asDispatcher,
    );
    expect(destinations).toHaveLength(1);
    expect(destinations[0]).toMatchObject({ integrationId, url: `${url}/v2` });
    const secrets = destinations[0]?.secrets.map((secret) =>
      Buffer.from(secret).toString('base64'),
    );
    expect(secrets).toEqual([first.secret.slice('whsec_'.length)]);
  });

  test('set by several at once is one destination with one secret', async () => {
    const answers = await Promise.all([set(url), set(url), set(url), set(url)]);
    expect(new Set(answers.map(({ destinationId }) => destinationId)).size).toBe(1);
    expect(answers.filter(({ secret }) => secret !== '')).toHaveLength(1);
  });

  test('is another revision each time that it is set, also to the URL that it has', async () => {
    const revisionOf = async (destinationId: string) => {
      const request = { destinationIds: [destinationId] };
      const { destinations } = await world.destinations.getDestinations(request, asDispatcher);
      return destinations[0]?.revision;
    };
    const { destinationId } = await set(url);
    expect(await revisionOf(destinationId)).toBe(1);
    await set(`${url}/v2`);
    expect(await revisionOf(destinationId)).toBe(2);
    await set(`${url}/v2`);
    expect(await revisionOf(destinationId)).toBe(3);
  });

  test('is found through a live grant on either side, once', async () => {
    const retailerId = randomUUID();
    const creditorId = randomUUID();
    const [other, another] = [randomUUID(), randomUUID()];
    /** Who is told of all four pairs, of which the last has the two ids on the wrong sides. */
    const find = async () => {
      const pairs = [
        { retailerId, creditorId },
        { retailerId: retailerId.toUpperCase(), creditorId: other },
        { retailerId: another, creditorId },
        { retailerId: creditorId, creditorId: retailerId },
      ];
      const { byPair } = await world.destinations.findRecipients({ pairs }, asDispatcher);
      return byPair.map(({ recipients }) => recipients.map((one) => one.destinationId));
    };
    const grant = { integrationId, granted: true };
    const { destinationId } = await set(url);
    expect(await find()).toEqual([[], [], [], []]);

    await world.integrations.grantRetailer({ ...grant, retailerId }, asPlatform);
    expect(await find()).toEqual([[destinationId], [destinationId], [], []]);
    await world.integrations.grantCreditor({ ...grant, creditorId }, asPlatform);
    expect(await find()).toEqual([[destinationId], [destinationId], [destinationId], []]);

    const withdrawn = { integrationId, granted: false };
    await world.integrations.grantRetailer({ ...withdrawn, retailerId }, asPlatform);
    await world.integrations.grantCreditor({ ...withdrawn, creditorId }, asPlatform);
    expect(await find()).toEqual([[], [], [], []]);
  });

  test('is found with its revision', async () => {
    const pair = { retailerId: randomUUID(), creditorId: randomUUID() };
    const { destinationId } = await set(url);
    await set(url);
    const grant = { integrationId, retailerId: pair.retailerId, granted: true };
    await world.integrations.grantRetailer(grant, asPlatform);
    const { byPair } = await world.destinations.findRecipients({ pairs: [pair] }, asDispatcher);
    expect(byPair).toMatchObject([{ recipients: [{ destinationId, revision: 2 }] }]);
  });

  test.each(['http://a.example/', '/hooks', 'https://me:pw@a.example/', 'https://10.0.0.1/'])(
    'is refused at %s, by a message that does not repeat it',
    async (to) => {
      const refusal = await set(to).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ kind: 'invalid', fields: [{ pointer: '/url' }] });
      expect((refusal as Error).message).not.toContain(to);
    },
  );
});

test('an integration that nobody registered is not found, whatever is asked of it', async () => {
  const integrationId = randomUUID();
  const id = randomUUID();
  const { integrations } = world;
  const calls = [
    integrations.issueKey({ integrationId }, asPlatform),
    integrations.revokeKey({ integrationId, keyId: id }, asPlatform),
    integrations.grantRetailer({ integrationId, retailerId: id, granted: true }, asPlatform),
    integrations.grantCreditor({ integrationId, creditorId: id, granted: false }, asPlatform),
    integrations.setDestination({ integrationId, url: 'https://a.example/' }, asPlatform),
  ];
  for (const result of await Promise.allSettled(calls)) {
    expect(result).toMatchObject({
      reason: { kind: 'not_found', code: 'integration_not_found' },
    });
  }
});

test('an integration cannot call what is the platform’s, nor a peer what is another’s', async () => {
  const identity: Identity = { kind: 'integration', subject: randomUUID(), permissions: [] };
  const request = { integrationId: identity.subject };
  await expect(world.integrations.issueKey(request, { identity })).rejects.toMatchObject({
    kind: 'forbidden',
  });
  const withoutPermission = { ...asPlatform.identity, permissions: ['MANAGE_DIRECTORY'] };
  await expect(
    world.integrations.issueKey(request, { identity: withoutPermission }),
  ).rejects.toMatchObject({ kind: 'forbidden' });
});

test('neither a key nor a webhook secret is in the database in any readable form', async () => {
  const integrationId = await registered();
  const { key } = await world.integrations.issueKey(
    { integrationId },
    { ...asPlatform, idempotencyKey: randomUUID() },
  );
  const { secret } = await world.integrations.setDestination(
    { integrationId, url: 'https://a.example/' },
    asPlatform,
  );
  const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const tables = [
    'integrations',
    'keys',
    'retailer_grants',
    'creditor_grants',
    'destinations',
    'idempotency',
  ];
  let dump = '';
  for (const table of tables) {
    const { rows } = await database.sql.query(`SELECT t::text AS row FROM ${table} AS t`);
    dump += rows.map(({ row }) => row).join('\n');
  }
  expect(dump).toContain(digestApiKey(key).toString('hex'));
  for (const form of [key, Buffer.from(key).toString('hex'), Buffer.from(key).toString('base64')]) {
    expect(dump).not.toContain(form);
  }
  for (const form of [secret, bytes.toString('hex'), bytes.toString('base64')]) {
    expect(dump).not.toContain(form);
  }
});

test('after a start with a new key in front, no row names the old key and all of them open', async () => {
  const integrationId = await registered();
  const repeated = { ...asPlatform, idempotencyKey: randomUUID() };
  const issued = await world.integrations.issueKey({ integrationId }, repeated);
  const { destinationId, secret } = await world.integrations.setDestination(
    { integrationId, url: 'https://a.example/' },
    asPlatform,
  );
  await world.close();
  world = await start(`${NEW_KEY},${OLD_KEY}`);
  const { rows } = await database.sql.query('SELECT sealed_secret, sealed_with FROM destinations');
  for (const row of rows) {
    expect(row.sealed_with).toBe('new');
    expect(readKeyId(row.sealed_secret)).toBe('new');
  }
  const answers = await database.sql.query('SELECT response FROM idempotency');
  for (const { response } of answers.rows) expect(readKeyId(response)).toBe('new');

  await world.close();
  world = await start(NEW_KEY);
  expect(world.ready()).toBe(true);
  const { destinations } = await world.destinations.getDestinations(
    { destinationIds: [destinationId] },
    asDispatcher,
  );
  const [opened = new Uint8Array()] = destinations[0]?.secrets ?? [];
  expect(`whsec_${Buffer.from(opened).toString('base64')}`).toBe(secret);
  expect(await world.integrations.issueKey({ integrationId }, repeated)).toEqual(issued);
});
