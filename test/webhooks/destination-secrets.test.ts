import { randomUUID } from 'node:crypto';
import { verifyWebhook } from '@creditlane/client/webhooks';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../platform/api-client.ts';
import { eventually } from '../platform/eventually.ts';
import { hexSignature } from '../platform/hex-signature.ts';
import { startTestPlatform, type TestPlatform } from '../platform/test-platform.ts';
import type { ReceivedWebhook } from '../platform/webhook-inbox-client.ts';

describe('the secret of a destination can be rotated, and the destination removed', () => {
  let platform: TestPlatform;
  /** The newest secret of the destination. */
  let secret: string;
  beforeAll(async () => {
    platform = await startTestPlatform({
      dispatcher: { DESTINATIONS_CACHE: '0ms', RETRY_DELAYS: '1s,1s,1s,1s,1s,1s' },
    });
    secret = platform.demo.webhookSecret;
  });
  afterAll(() => platform.close());
  beforeEach(() => platform.resetInbox());

  const call = (method: string, end: string, body?: object, headers = {}): Promise<Answer> =>
    platform.api.call(method, `/platform/integrations/${platform.demo.integrationId}${end}`, {
      key: platform.demo.keys.platform,
      headers,
      ...(body && { body }),
    });

  /** Rotates the secret, and remembers the new one. */
  async function rotate(body: object, headers = {}): Promise<Answer> {
    const answer = await call('POST', '/destination/secret', body, headers);
    if (answer.status === 200) secret = answer.body.secret;
    return answer;
  }

  async function setDestination(): Promise<Answer> {
    const answer = await call('PUT', '/destination', { url: platform.demo.inboxUrl });
    secret = answer.body.secret ?? secret;
    return answer;
  }

  /** The webhook that the submission of a new application sends. */
  async function nextWebhook(): Promise<ReceivedWebhook> {
    await platform.inbox.clear();
    await platform.submitNewApplication();
    const [webhook] = await platform.inbox.waitFor(1);
    return webhook as ReceivedWebhook;
  }

  test('during the overlap both secrets sign webhook-signature and the new one X-SERVICE-SIGNATURE; afterwards the new one alone', async () => {
    const old = secret;
    const answer = await rotate({ overlapHours: 1 });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      secret: expect.stringMatching(/^whsec_/),
      overlapEndsAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });

    const during = await nextWebhook();
    expect(signaturesOf(during)).toHaveLength(2);
    expect([verifies(during, old), verifies(during, secret)]).toEqual([true, true]);
    expect(during.headers['x-service-signature']).toBe(hexSignature(secret, during.body));
    expect((await verifyWebhook({ ...during, secrets: old })).type).toBe('awaitingDecision');
    const hexOnly = verifyWebhook({ ...during, secrets: old, scheme: 'hex' });
    await expect(hexOnly).rejects.toMatchObject({ reason: 'old_secret' });

    await platform.runSql('integrations', `UPDATE previous_secrets SET signs_until = now()`);
    const afterwards = await nextWebhook();
    expect(signaturesOf(afterwards)).toHaveLength(1);
    expect([verifies(afterwards, old), verifies(afterwards, secret)]).toEqual([false, true]);
    const retired = verifyWebhook({ ...during, secrets: secret, retiredSecrets: [old] });
    expect((await retired).type).toBe('awaitingDecision');
    await expect(verifyWebhook({ ...afterwards, secrets: old })).rejects.toMatchObject({
      reason: 'signature_mismatch',
    });
  });

  test('a rotation without an overlap revokes the earlier secrets at once', async () => {
    await rotate({});
    const old = secret;
    await rotate({ overlapHours: 0 });
    const webhook = await nextWebhook();
    expect(signaturesOf(webhook)).toHaveLength(1);
    expect([verifies(webhook, old), verifies(webhook, secret)]).toEqual([false, true]);
  });

  test('a rotation repeated with its Idempotency-Key shows the same secret and rotates once', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await rotate({ overlapHours: 0 }, headers);
    const repeated = await rotate({ overlapHours: 0 }, headers);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(repeated.body).toEqual(first.body);
    expect(signaturesOf(await nextWebhook())).toHaveLength(1);
    expect((await rotate({ overlapHours: 1 }, headers)).status).toBe(422);
  });

  test('a fourth rotation within the overlap is refused with 409', async () => {
    for (const _ of [1, 2, 3]) expect((await rotate({})).status).toBe(200);
    const refused = await rotate({});
    expect([refused.status, refused.body.code]).toEqual([409, 'too_many_secrets']);
    expect(signaturesOf(await nextWebhook())).toHaveLength(4);
    expect((await rotate({ overlapHours: 0 })).status).toBe(200);
  });

  test('the webhook inbox finds the signatures of a rotated secret valid once it has the answer', async () => {
    const { body } = await rotate({ overlapHours: 0 });
    expect((await nextWebhook()).signatures).toEqual({ service: 'invalid', standard: 'invalid' });
    await platform.inbox.addSecret(body);
    const [webhook] = await platform.inbox.list();
    expect(webhook?.signatures).toEqual({ service: 'valid', standard: 'valid' });
  });

  test('a removed destination gets nothing more: its pending deliveries are dead, with the reason', async () => {
    const failedBefore = await platform.countFailedAttempts();
    await platform.inbox.setBehaviour('fail');
    await platform.submitNewApplication();
    await platform.waitForFailedAttempt(failedBefore);

    const removed = await call('DELETE', '/destination');
    expect([removed.status, removed.body]).toEqual([204, undefined]);
    await platform.inbox.setBehaviour('accept');
    await platform.submitNewApplication();
    await eventually('dead delivery of the removed destination', async () => {
      const rows = await platform.runSql(
        'webhook-dispatcher',
        `SELECT reason FROM deliveries WHERE state = 'dead'`,
      );
      return rows.some(({ reason }) => reason === 'destination_removed') || undefined;
    });
    await platform.settle();
    expect(await platform.inbox.list()).toEqual([]);

    expect((await rotate({})).body.code).toBe('destination_not_found');
    expect((await call('DELETE', '/destination')).status).toBe(204);
  });

  test('a destination that is set after a removal gets later events, signed with a new secret alone', async () => {
    await setDestination();
    const old = secret;
    await rotate({});
    await call('DELETE', '/destination');
    await setDestination();
    expect(secret).not.toBe(old);
    const webhook = await nextWebhook();
    expect(signaturesOf(webhook)).toHaveLength(1);
    expect([verifies(webhook, old), verifies(webhook, secret)]).toEqual([false, true]);
    expect(webhook.headers['webhook-sequence']).toBe('1');
  });

  test('an unknown integration and an integration’s own key are refused', async () => {
    const { demo } = platform;
    for (const [method, end] of [
      ['DELETE', '/destination'],
      ['POST', '/destination/secret'],
    ] as const) {
      const unknown = `/platform/integrations/${randomUUID()}${end}`;
      const answer = await platform.api.call(method, unknown, { key: demo.keys.platform });
      expect([answer.status, answer.body.code]).toEqual([404, 'integration_not_found']);
      for (const key of [demo.keys.integration, demo.otherTenant.key]) {
        const path = `/platform/integrations/${demo.integrationId}${end}`;
        expect((await platform.api.call(method, path, { key })).status).toBe(401);
      }
    }
    expect((await nextWebhook()).headers['x-service-signature']).toBeDefined();
  });
});

function signaturesOf({ headers }: ReceivedWebhook): string[] {
  return headers['webhook-signature']?.split(' ') ?? [];
}

/** Whether the public Standard Webhooks library verifies the webhook with this secret. */
function verifies({ headers, body }: ReceivedWebhook, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
