import { randomUUID } from 'node:crypto';
import type { CallContext } from '@creditlane/rpc/client';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  asDispatcher,
  asPlatform,
  registerTestIntegration,
  useIntegrations,
} from '../test-integrations.ts';

const fixture = useIntegrations();

describe('a destination', () => {
  const url = 'https://hooks.dealerdesk.example/creditlane';
  let integrationId: string;
  beforeEach(async () => {
    integrationId = await registerTestIntegration(fixture);
  });

  const set = (newUrl: string, context: Omit<CallContext, 'identity'> = {}) =>
    fixture.integrations.setDestination(
      { integrationId, url: newUrl },
      { ...context, ...asPlatform },
    );

  test('gets its secret once, and keeps the secret when its URL changes', async () => {
    const first = await set(url);
    expect(first.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const moved = await set(`${url}/v2`);
    expect(moved).toMatchObject({ destinationId: first.destinationId, secret: '' });
    const { destinations } = await fixture.destinations.getDestinations(
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

  test('whose secret cannot be opened has none, is named in the log, and leaves others readable', async () => {
    const damaged = await set(url);
    const other = await fixture.integrations.setDestination(
      { integrationId: await registerTestIntegration(fixture), url },
      asPlatform,
    );
    await fixture.sql.query(
      'UPDATE destinations SET sealed_secret = set_byte(sealed_secret, 40, 255 - get_byte(sealed_secret, 40)) WHERE id = $1',
      [damaged.destinationId],
    );
    const ids = [damaged.destinationId, other.destinationId];
    const { destinations } = await fixture.destinations.getDestinations(
      { destinationIds: ids },
      asDispatcher,
    );
    const counts = destinations.map(({ destinationId, secrets }) => [
      destinationId,
      secrets.length,
    ]);
    expect(new Map(counts as [string, number][])).toEqual(
      new Map([
        [damaged.destinationId, 0],
        [other.destinationId, 1],
      ]),
    );
    const lines = fixture.lines.filter((line) =>
      line.includes('a signing secret cannot be opened'),
    );
    expect(lines.map((line) => JSON.parse(line).destinationId)).toEqual([damaged.destinationId]);
  });

  test('set by several requests at once is one destination with one secret', async () => {
    const answers = await Promise.all([set(url), set(url), set(url), set(url)]);
    expect(new Set(answers.map(({ destinationId }) => destinationId)).size).toBe(1);
    expect(answers.filter(({ secret }) => secret !== '')).toHaveLength(1);
  });

  test('set twice with one idempotency key keeps its revision, and shows its secret twice', async () => {
    const replayed: string[] = [];
    const withKey = (key: string) => ({
      idempotencyKey: `${integrationId} ${key}`,
      onReplayed: () => void replayed.push(key),
    });
    const first = await set(url, withKey('first'));
    const moved = await set(`${url}/v2`, withKey('second'));
    expect(replayed).toEqual([]);
    expect(await set(url, withKey('first'))).toEqual(first);
    expect(await set(`${url}/v2`, withKey('second'))).toEqual(moved);
    expect(replayed).toEqual(['first', 'second']);
    const { destinations } = await fixture.destinations.getDestinations(
      { destinationIds: [first.destinationId] },
      asDispatcher,
    );
    expect(destinations).toMatchObject([{ url: `${url}/v2`, revision: 2 }]);
    await expect(set(url, withKey('second'))).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
  });

  test('set by duplicate requests at once is set once, and each shows its secret', async () => {
    const idempotencyKey = `${integrationId} at once`;
    const answers = await Promise.all([1, 2, 3, 4].map(() => set(url, { idempotencyKey })));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]?.secret).toMatch(/^whsec_/);
    const { rows } = await fixture.sql.query(
      'SELECT revision FROM destinations WHERE integration_id = $1',
      [integrationId],
    );
    expect(rows).toEqual([{ revision: 1 }]);
  });

  test('has a new revision each time that its URL is set, also to the same URL', async () => {
    const revisionOf = async (destinationId: string) => {
      const request = { destinationIds: [destinationId] };
      const { destinations } = await fixture.destinations.getDestinations(request, asDispatcher);
      return destinations[0]?.revision;
    };
    const { destinationId } = await set(url);
    expect(await revisionOf(destinationId)).toBe(1);
    await set(`${url}/v2`);
    expect(await revisionOf(destinationId)).toBe(2);
    await set(`${url}/v2`);
    expect(await revisionOf(destinationId)).toBe(3);
  });

  test('receives events once through live grants on either side', async () => {
    const retailerId = randomUUID();
    const creditorId = randomUUID();
    const [other, another] = [randomUUID(), randomUUID()];
    /** The recipients of four pairs; the last pair has the two ids on the wrong sides. */
    const find = async () => {
      const pairs = [
        { retailerId, creditorId },
        { retailerId: retailerId.toUpperCase(), creditorId: other },
        { retailerId: another, creditorId },
        { retailerId: creditorId, creditorId: retailerId },
      ];
      const { byPair } = await fixture.destinations.findRecipients({ pairs }, asDispatcher);
      return byPair.map(({ recipients }) => recipients.map((recipient) => recipient.destinationId));
    };
    const grant = { integrationId, granted: true };
    const { destinationId } = await set(url);
    expect(await find()).toEqual([[], [], [], []]);

    await fixture.integrations.grantRetailer({ ...grant, retailerId }, asPlatform);
    expect(await find()).toEqual([[destinationId], [destinationId], [], []]);
    await fixture.integrations.grantCreditor({ ...grant, creditorId }, asPlatform);
    expect(await find()).toEqual([[destinationId], [destinationId], [destinationId], []]);

    const revocation = { integrationId, granted: false };
    await fixture.integrations.grantRetailer({ ...revocation, retailerId }, asPlatform);
    await fixture.integrations.grantCreditor({ ...revocation, creditorId }, asPlatform);
    expect(await find()).toEqual([[], [], [], []]);
  });

  test('receives events at its current revision', async () => {
    const pair = { retailerId: randomUUID(), creditorId: randomUUID() };
    const { destinationId } = await set(url);
    await set(url);
    const grant = { integrationId, retailerId: pair.retailerId, granted: true };
    await fixture.integrations.grantRetailer(grant, asPlatform);
    const { byPair } = await fixture.destinations.findRecipients({ pairs: [pair] }, asDispatcher);
    expect(byPair).toMatchObject([{ recipients: [{ destinationId, revision: 2 }] }]);
  });

  test('is found by its integration, whatever the grants are', async () => {
    const { destinationId } = await set(url);
    const without = await registerTestIntegration(fixture);
    const integrationIds = [without, integrationId.toUpperCase(), randomUUID(), integrationId];
    const { byIntegration } = await fixture.destinations.findIntegrationRecipients(
      { integrationIds },
      asDispatcher,
    );
    const found = { recipients: [{ destinationId, revision: 1 }] };
    const none = { recipients: [] };
    expect(byIntegration).toMatchObject([none, found, none, found]);
  });

  test.each(['http://a.example/', '/hooks', 'https://me:pw@a.example/', 'https://10.0.0.1/'])(
    'with the URL %s is refused by a message without the URL',
    async (refusedUrl) => {
      const refusal = await set(refusedUrl).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ kind: 'invalid', fields: [{ pointer: '/url' }] });
      expect((refusal as Error).message).not.toContain(refusedUrl);
    },
  );
});
