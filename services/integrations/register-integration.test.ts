import { randomUUID } from 'node:crypto';
import { untilWaiting } from '@creditlane/postgres/test-awaited-locks';
import { inTransaction } from '@creditlane/postgres/transaction';
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
    await register({ integrationId: first.id.toUpperCase(), name: 'Renamed' });
    expect(await register({}, key)).toEqual({ id: first.id, replayed: true });
    expect(await stored(first.id)).toMatchObject([{ name: 'Renamed' }]);
    for (const other of [{ name: 'Other' }, { integrationId: first.id }]) {
      const refusal = { kind: 'invalid', code: 'idempotency_key_reused' };
      await expect(register(other, key)).rejects.toMatchObject(refusal);
    }
    expect((await register({}, randomUUID())).id).not.toBe(first.id);
  });

  test('repeated while its row is held leaves connections for other integrations', async () => {
    const [held, other] = [await register({}), await register({})];
    const registrations = await inTransaction(fixture.sql, async (tx) => {
      await tx.query('SELECT FROM integrations WHERE id = $1 FOR UPDATE', [held.id]);
      // One that has waited too long when the row is free is refused.
      const refusal = expect.objectContaining({ kind: 'unavailable' });
      // More than the pool has connections.
      const started = Array.from({ length: 6 }, () =>
        register({ integrationId: held.id }).catch((error) => expect(error).toEqual(refusal)),
      );
      await untilWaiting(fixture.sql, 1);
      // The others wait for their turn, without a connection.
      await expect.poll(fixture.metrics).toMatch(/\{[^}]*state="waiting_for_row"\} 5$/m);
      await fixture.integrations.getIntegration({ integrationId: other.id }, asPlatform);
      return started;
    });
    await Promise.all(registrations);
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
