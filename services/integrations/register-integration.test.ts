import { randomUUID } from 'node:crypto';
import { untilWaiting } from '@creditlane/postgres/test-awaited-locks';
import { inTransaction } from '@creditlane/postgres/transaction';
import { Permission } from '@creditlane/proto/integrations/v1/integrations_service';
import type { Identity } from '@creditlane/rpc/identity';
import { describe, expect, test } from 'vitest';
import { asPlatform, useIntegrations } from './test-integrations.ts';

const fixture = useIntegrations();

describe('a registration', () => {
  const register = async (request: object, idempotencyKey?: string) => {
    let replayed = false;
    const onReplayed = () => {
      replayed = true;
    };
    const context = { ...asPlatform, idempotencyKey, onReplayed };
    const answer = await fixture.integrations.registerIntegration(
      { name: 'DealerDesk', ...request },
      context,
    );
    return { id: answer.integrationId, replayed };
  };
  const stored = async (id: string) =>
    (await fixture.sql.query('SELECT name, permissions FROM integrations WHERE id = $1', [id]))
      .rows;

  test('without an id gets a new id each time', async () => {
    const [one, two] = [await register({}), await register({})];
    expect(await stored(one.id)).toEqual([{ name: 'DealerDesk', permissions: [] }]);
    expect(two.id).not.toBe(one.id);
  });

  test('repeated with its idempotency key gets the same id and changes nothing', async () => {
    const key = randomUUID();
    const first = await register({}, key);
    expect(first.replayed).toBe(false);
    const renamed = { integrationId: first.id.toUpperCase(), name: 'Renamed', permissions: [] };
    await fixture.integrations.changeIntegration(renamed, asPlatform);
    expect(await register({}, key)).toEqual({ id: first.id, replayed: true });
    expect(await stored(first.id)).toMatchObject([{ name: 'Renamed' }]);
    for (const other of [{ name: 'Other' }, { integrationId: first.id }]) {
      const refusal = { kind: 'invalid', code: 'idempotency_key_reused' };
      await expect(register(other, key)).rejects.toMatchObject(refusal);
    }
    expect((await register({}, randomUUID())).id).not.toBe(first.id);
  });

  describe('of an integration that exists', () => {
    const rateLimit = { requests: 600, windowSeconds: 60 };
    const permissions = [Permission.READ_SIN, Permission.ENQUEUE_RETAILER_CHAT];
    const registerWith = async (change: object) => {
      const integrationId = randomUUID();
      await register({ integrationId, permissions, rateLimit });
      const request = { integrationId, name: 'DealerDesk', ...change };
      const { $typeName: _, ...answer } = await fixture.integrations
        .registerIntegration(request, asPlatform)
        .finally(async () => {
          const { keys: __, ...kept } = await fixture.integrations.getIntegration(
            request,
            asPlatform,
          );
          expect(kept).toMatchObject({ name: 'DealerDesk', permissions, rateLimit });
        });
      return { ...answer, integrationId };
    };

    test.each([
      ['what it has', { permissions: permissions.toReversed(), rateLimit }],
      ['its name alone', {}],
    ])('with %s is answered with what the integration has', async (_, change) => {
      expect(await registerWith(change)).toMatchObject({ permissions, rateLimit });
    });

    test.each([
      ['another name', { name: 'Renamed' }],
      ['fewer permissions', { permissions: permissions.slice(1) }],
      ['more permissions', { permissions: [...permissions, Permission.FORCE_PULL] }],
      ['no permissions', { noPermissions: true }],
      ['another rate limit', { rateLimit: { ...rateLimit, requests: 601 } }],
    ])('with %s is refused and changes nothing', async (_, change) => {
      const refusal = { kind: 'conflict', code: 'integration_exists' };
      await expect(registerWith(change)).rejects.toMatchObject(refusal);
    });

    test('is refused again with the same idempotency key, and accepted once it is the same', async () => {
      const { id: integrationId } = await register({ name: 'Earlier' });
      const key = randomUUID();
      for (const _ of [1, 2]) {
        const refused = register({ integrationId }, key);
        await expect(refused).rejects.toMatchObject({ code: 'integration_exists' });
      }
      const change = { integrationId, name: 'DealerDesk' };
      await fixture.integrations.changeIntegration(change, asPlatform);
      expect(await register({ integrationId }, key)).toMatchObject({ replayed: false });
    });
  });

  test('changed again and again while its row is held leaves connections for other integrations', async () => {
    const [held, other] = [await register({}), await register({})];
    const change = { integrationId: held.id, name: 'DealerDesk' };
    const changes = await inTransaction(fixture.sql, async (tx) => {
      await tx.query('SELECT FROM integrations WHERE id = $1 FOR UPDATE', [held.id]);
      // One that has waited too long when the row is free is refused.
      const refusal = expect.objectContaining({ kind: 'unavailable' });
      // More than the pool has connections.
      const started = Array.from({ length: 6 }, () =>
        fixture.integrations
          .changeIntegration(change, asPlatform)
          .catch((error) => expect(error).toEqual(refusal)),
      );
      await untilWaiting(fixture.sql, 1);
      // The others wait for their turn, without a connection.
      await expect.poll(fixture.metrics).toMatch(/\{[^}]*state="waiting_for_row"\} 5$/m);
      await fixture.integrations.getIntegration({ integrationId: other.id }, asPlatform);
      return started;
    });
    await Promise.all(changes);
  });

  test('and the issue of an API key can have the same idempotency key', async () => {
    const key = randomUUID();
    const { id: integrationId } = await register({}, key);
    const context = { ...asPlatform, idempotencyKey: key };
    expect((await fixture.integrations.issueKey({ integrationId }, context)).key).toMatch(/^cl_/);
  });
});

test('an integration that is not registered is not found by any request', async () => {
  const integrationId = randomUUID();
  const id = randomUUID();
  const { integrations } = fixture;
  const calls = [
    integrations.issueKey({ integrationId }, asPlatform),
    integrations.revokeKey({ integrationId, keyId: id }, asPlatform),
    integrations.grantRetailer({ integrationId, retailerId: id, granted: true }, asPlatform),
    integrations.grantCreditor({ integrationId, creditorId: id, granted: false }, asPlatform),
    integrations.setDestination({ integrationId, url: 'https://a.example/' }, asPlatform),
    integrations.changeIntegration({ integrationId, name: 'DealerDesk' }, asPlatform),
  ];
  for (const result of await Promise.allSettled(calls)) {
    expect(result).toMatchObject({
      reason: { kind: 'not_found', code: 'integration_not_found' },
    });
  }
});

test('an integration, and a platform key without the permission, cannot administer integrations', async () => {
  const identity: Identity = { kind: 'integration', subject: randomUUID(), permissions: [] };
  const request = { integrationId: identity.subject };
  await expect(fixture.integrations.issueKey(request, { identity })).rejects.toMatchObject({
    kind: 'forbidden',
  });
  const withoutPermission = { ...asPlatform.identity, permissions: ['MANAGE_DIRECTORY'] };
  await expect(
    fixture.integrations.issueKey(request, { identity: withoutPermission }),
  ).rejects.toMatchObject({ kind: 'forbidden' });
});
