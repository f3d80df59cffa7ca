import { randomUUID } from 'node:crypto';
import { generateApiKey } from '@creditlane/crypto/api-key';
import { Caller } from '@creditlane/proto/common/v1/access';
import { Permission } from '@creditlane/proto/integrations/v1/integrations_service';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  asPlatform,
  authenticate,
  PLATFORM_KEY,
  registerTestIntegration,
  useIntegrations,
} from '../test-integrations.ts';

const fixture = useIntegrations();

describe('a key', () => {
  let integrationId: string;
  beforeEach(async () => {
    integrationId = await registerTestIntegration(fixture, [Permission.ENQUEUE_RETAILER_CHAT]);
  });

  test('has its integration’s permissions until it is revoked', async () => {
    const { key, keyId } = await fixture.integrations.issueKey({ integrationId }, asPlatform);
    expect(await authenticate(fixture, key)).toMatchObject({
      callerId: integrationId,
      caller: Caller.INTEGRATION,
      permissions: ['ENQUEUE_RETAILER_CHAT'],
    });
    await fixture.integrations.revokeKey({ integrationId, keyId }, asPlatform);
    await expect(authenticate(fixture, key)).rejects.toMatchObject({ kind: 'unauthenticated' });
    // A second revocation succeeds and changes nothing.
    await fixture.integrations.revokeKey({ integrationId, keyId }, asPlatform);
  });

  test('issued by a repeated request is the same key', async () => {
    let replayed = false;
    const context = {
      ...asPlatform,
      idempotencyKey: randomUUID(),
      onReplayed: () => {
        replayed = true;
      },
    };
    const first = await fixture.integrations.issueKey({ integrationId }, context);
    expect(replayed).toBe(false);
    expect(await fixture.integrations.issueKey({ integrationId }, context)).toEqual(first);
    expect(replayed).toBe(true);
    await expect(
      fixture.integrations.issueKey({ integrationId, live: true }, context),
    ).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  test('stays valid when another key of its integration is revoked', async () => {
    const { key } = await fixture.integrations.issueKey({ integrationId, live: true }, asPlatform);
    const other = await fixture.integrations.issueKey({ integrationId }, asPlatform);
    await fixture.integrations.revokeKey({ integrationId, keyId: other.keyId }, asPlatform);
    expect(key).toMatch(/^cl_live_/);
    expect(await authenticate(fixture, key)).toMatchObject({ callerId: integrationId });
  });

  const insertKeys = (count: number) =>
    fixture.database.sql.query(
      `INSERT INTO keys (id, integration_id, digest, created_at)
       SELECT gen_random_uuid(), $1, sha256(gen_random_uuid()::text::bytea), now() FROM generate_series(1, $2)`,
      [integrationId, count],
    );

  test('beyond the hundredth that is not revoked is refused, also when several are issued at once', async () => {
    const { integrations } = fixture;
    await insertKeys(98);
    const issue = () => integrations.issueKey({ integrationId }, asPlatform);
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, issue));
    const issued = outcomes.filter((it) => it.status === 'fulfilled').map(({ value }) => value);
    expect(issued).toHaveLength(2);
    for (const { reason } of outcomes.filter((it) => it.status === 'rejected')) {
      expect(reason).toMatchObject({ kind: 'conflict', code: 'too_many_keys' });
    }
    await integrations.revokeKey({ integrationId, keyId: issued[0]?.keyId ?? '' }, asPlatform);
    const { key } = await issue();
    expect(await authenticate(fixture, key)).toMatchObject({ callerId: integrationId });
  });

  test('of an integration that has more than a hundred stays valid, and no other is issued', async () => {
    const { key } = await fixture.integrations.issueKey({ integrationId }, asPlatform);
    await insertKeys(105);
    expect(await authenticate(fixture, key)).toMatchObject({ callerId: integrationId });
    const refused = fixture.integrations.issueKey({ integrationId }, asPlatform);
    await expect(refused).rejects.toMatchObject({ code: 'too_many_keys' });
  });

  test('has the new permissions as soon as the permissions of its integration change', async () => {
    const { key } = await fixture.integrations.issueKey({ integrationId }, asPlatform);
    const request = { integrationId, name: 'DealerDesk', permissions: [] };
    await fixture.integrations.changeIntegration(request, asPlatform);
    expect((await authenticate(fixture, key)).permissions).toEqual([]);
  });

  test('is not found by a revocation that names another integration', async () => {
    const { key, keyId } = await fixture.integrations.issueKey({ integrationId }, asPlatform);
    const other = { integrationId: await registerTestIntegration(fixture), keyId };
    await expect(fixture.integrations.revokeKey(other, asPlatform)).rejects.toMatchObject({
      kind: 'not_found',
      code: 'key_not_found',
    });
    expect(await authenticate(fixture, key)).toMatchObject({ callerId: integrationId });
  });

  test('that was never issued is refused', async () => {
    await expect(authenticate(fixture, generateApiKey(true))).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
  });

  test('of the platform has the platform’s permissions and an id of its own', async () => {
    const answer = await authenticate(fixture, PLATFORM_KEY);
    expect(answer).toMatchObject({
      caller: Caller.PLATFORM,
      permissions: ['MANAGE_DIRECTORY', 'MANAGE_INTEGRATIONS', 'READ_AUDIT'],
    });
    expect(answer.callerId).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });
});
