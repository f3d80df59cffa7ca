import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../platform/api-client.ts';
import { eventually } from '../platform/eventually.ts';
import { hexSignature } from '../platform/hex-signature.ts';
import { startTestPlatform, type TestPlatform } from '../platform/test-platform.ts';
import {
  type ReceivedRequest,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../platform/webhook-receiver.ts';

describe('with the operations on deliveries', () => {
  let platform: TestPlatform;
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    // A delivery is dead after two attempts.
    platform = await startTestPlatform({
      dispatcher: { RETRY_DELAYS: '50ms', DESTINATIONS_CACHE: '0ms' },
    });
    receiver = await startWebhookReceiver();
    await platform.api.call(
      'PUT',
      `/platform/integrations/${platform.demo.integrationId}/destination`,
      { key: platform.demo.keys.platform, body: { url: receiver.url } },
    );
  });
  afterAll(async () => {
    await platform.close();
    await receiver?.close();
  });
  beforeEach(async () => {
    receiver.answerWith(204);
    await platform.settle();
    receiver.received.length = 0;
  });

  const list = async (filter: Record<string, string>) => {
    const answer = await platform.api.get(`/webhook-deliveries?${new URLSearchParams(filter)}`);
    expect(answer.status).toBe(200);
    return answer.body.data;
  };

  /** Submits a new application, and resolves to its only delivery once that is in the state. */
  async function submitUntil(state: string) {
    const { applicationId } = await platform.submitNewApplication();
    return eventually(`delivery in state ${state}`, async () => {
      const [delivery] = await list({ applicationId, state });
      return delivery;
    });
  }

  const replay = (id: string, headers = {}): Promise<Answer> =>
    platform.api.call('POST', `/webhook-deliveries/${id}/replay`, { headers });
  const sendTestEvent = (event: string): Promise<Answer> =>
    platform.api.post('/webhook-test-events', { event });

  function expectSigned({ headers, body }: ReceivedRequest, header = 'x-service-signature') {
    const { webhookSecret } = platform.demo;
    new Webhook(webhookSecret).verify(body, headers);
    expect(headers[header]).toBe(hexSignature(webhookSecret, body));
  }

  test('a receiver that failed until the delivery was dead gets it by replay, with the same id and a valid signature', async () => {
    const refusal = 'the disk "a" is full: é';
    receiver.answerWith(500, refusal);
    const dead = await submitUntil('DEAD');
    expect(dead).toMatchObject({
      event: 'awaitingDecision',
      creditorId: platform.demo.creditorId,
      reason: 'attempts_exhausted',
      attemptCount: 2,
      sequence: 1,
    });
    const path = `/webhook-deliveries/${dead.deliveryId}`;
    const read = await platform.api.get(path);
    const refused = { status: 500, answer: refusal };
    expect(read.body.attempts).toMatchObject([refused, refused]);

    receiver.answerWith(204);
    const answer = await replay(dead.deliveryId);
    expect([answer.status, answer.body.state]).toEqual([202, 'DUE']);
    await eventually('delivery', async () => {
      const { body } = await platform.api.get(path);
      return body.state === 'DELIVERED' || undefined;
    });
    const [first, , third] = receiver.received as [
      ReceivedRequest,
      ReceivedRequest,
      ReceivedRequest,
    ];
    expect(receiver.received).toHaveLength(3);
    expect(third.headers['webhook-id']).toBe(dead.deliveryId);
    expect(third.headers['webhook-id']).toBe(first.headers['webhook-id']);
    expect(third.body).toBe(first.body);
    expectSigned(third);
  });

  test('webhooks wait while their owner has paused the destination, and come in order once it is resumed', async () => {
    const paused = await platform.api.post('/webhook-destination/pause', { hours: 2 });
    const { destinationId, pausedUntil } = paused.body;
    expect(paused.body).toMatchObject({ url: receiver.url });
    expect(Date.parse(pausedUntil) - Date.now()).toBeGreaterThan(7_100_000);
    await eventually(
      'pause in effect',
      async () =>
        (await platform.metrics()).includes('webhook_breakers{state="paused"} 1') || undefined,
    );
    const { applicationId } = await platform.submitNewApplication();
    const decided = { applicationId, creditorId: platform.demo.creditorId };
    await platform.recordDecision(decided, { decision: 'DECLINED' });
    await eventually('delivery that waits for the pause', async () => {
      const [waiting] = await list({ applicationId, state: 'WAITING' });
      return waiting;
    });
    expect(receiver.received).toEqual([]);

    const resumed = await platform.api.post('/webhook-destination/resume', undefined);
    expect(resumed.body).toMatchObject({ destinationId });
    expect(resumed.body).not.toHaveProperty('pausedUntil');
    await platform.settle();
    expect(receiver.received.map(({ headers }) => headers['webhook-sequence'])).toEqual(['1', '2']);
    const { body } = await platform.api.get('/webhook-destination');
    expect(Date.parse(body.lastSuccessAt)).toBeGreaterThan(0);
  });

  test('a replay repeated with its Idempotency-Key sends the webhook once more', async () => {
    const { deliveryId } = await submitUntil('DELIVERED');
    const headers = { 'idempotency-key': randomUUID() };
    const first = await replay(deliveryId, headers);
    await platform.settle();
    const repeated = await replay(deliveryId, headers);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(repeated.body).toEqual(first.body);
    await platform.settle();
    expect(receiver.received).toHaveLength(2);
  });

  test('deliveries given up during an outage of the receiver come by one replay, once each and in order', async () => {
    const createdFrom = new Date().toISOString();
    receiver.answerWith(500);
    const applicationIds = [];
    for (let n = 0; n < 3; n += 1) {
      const { applicationId } = await submitUntil('DEAD');
      applicationIds.push(applicationId);
    }
    const decided = { applicationId: applicationIds[0], creditorId: platform.demo.creditorId };
    await platform.recordDecision(decided, { decision: 'DECLINED' });
    const { applicationId = '' } = decided;
    const isDead = { applicationId, event: 'applicationDeclined', state: 'DEAD' };
    await eventually(
      'second delivery of the first application',
      async () => (await list(isDead))[0],
    );
    receiver.answerWith(204);
    receiver.received.length = 0;

    const headers = { 'idempotency-key': randomUUID() };
    const begin = () => platform.api.post('/webhook-replays', { createdFrom }, { headers });
    const begun = await begin();
    expect([begun.status, begun.body.state]).toEqual([202, 'COUNTING']);
    const { replayId } = begun.body;
    const path = `/webhook-replays/${replayId}`;
    await eventually('end of the replay', async () => {
      const { body } = await platform.api.get(path);
      return body.state === 'COMPLETED' || undefined;
    });
    await platform.settle();
    const { body } = await platform.api.get(path);
    expect(body).toMatchObject({ matched: 4, replayed: 4, skipped: 0, remaining: 0 });
    expect((await begin()).body).toEqual(begun.body);
    await platform.settle();
    const ofApplication = Map.groupBy(receiver.received, (it) => JSON.parse(it.body).applicationId);
    expect([...ofApplication.keys()].sort()).toEqual(applicationIds.sort());
    const [first = []] = applicationIds.map((id) => ofApplication.get(id)).filter((it) => it?.[1]);
    expect(first.map((it) => it.headers['webhook-sequence'])).toEqual(['1', '2']);
    expect(receiver.received).toHaveLength(4);
    for (const request of receiver.received) expectSigned(request);

    const { key } = platform.demo.otherTenant;
    const foreign = await platform.api.get(path, { key });
    const unknown = await platform.api.get(`/webhook-replays/${randomUUID()}`, { key });
    const { requestId, ...missing } = foreign.body;
    expect([foreign.status, missing.code]).toEqual([404, 'replay_not_found']);
    expect({ ...unknown.body, requestId }).toEqual(foreign.body);
  });

  test('every webhook of the document can be sent as a test event, signed and marked', async () => {
    const { body: document } = await platform.api.get('/openapi.json');
    const events = Object.keys(document.webhooks);
    for (const event of events) {
      const { status, body } = await sendTestEvent(event);
      expect([event, status, body.succeeded]).toEqual([event, 200, true]);
      const request = receiver.received.at(-1) as ReceivedRequest;
      expect(request.headers).toMatchObject({
        'webhook-test': 'true',
        'webhook-id': body.webhookId,
      });
      const isEnabling = event === 'integrationEnabled';
      expectSigned(request, isEnabling ? 'x-integration-signature' : 'x-service-signature');
    }
    expect(receiver.received).toHaveLength(events.length);
  });

  test('a disabled destination is enabled by a successful test event, and gets what it missed by replay', async () => {
    receiver.answerWith(410);
    const gone = await submitUntil('DEAD');
    expect(gone).toMatchObject({ reason: 'gone', destinationDisabledReason: 'gone' });
    const missed = await submitUntil('DEAD');
    expect(missed).toMatchObject({ reason: 'destination_disabled', attemptCount: 0 });
    expect((await replay(missed.deliveryId)).body.code).toBe('destination_disabled');
    const failed = await sendTestEvent('applicationBooked');
    expect(failed.body).toMatchObject({ succeeded: false, status: 410, enabled: false });

    receiver.answerWith(204);
    const succeeded = await sendTestEvent('applicationBooked');
    expect(succeeded.body).toMatchObject({ succeeded: true, status: 204, enabled: true });
    const next = await submitUntil('DELIVERED');
    expect(next.destinationDisabledReason).toBeUndefined();
    expect((await replay(missed.deliveryId)).status).toBe(202);
    await platform.settle();
    const request = receiver.received.at(-1) as ReceivedRequest;
    expect(request.headers).toMatchObject({
      'webhook-id': missed.deliveryId,
      'webhook-sequence': '1',
    });
    expectSigned(request);
  });

  test('a delivery of another tenant gets the same answer as one that does not exist', async () => {
    const { deliveryId, applicationId } = await submitUntil('DELIVERED');
    const { key } = platform.demo.otherTenant;
    const listed = await platform.api.get(`/webhook-deliveries?applicationId=${applicationId}`, {
      key,
    });
    expect([listed.status, listed.body]).toEqual([200, { data: [], nextCursor: null }]);
    for (const [method, end] of [
      ['GET', ''],
      ['POST', '/replay'],
    ] as const) {
      const answerFor = async (id: string) => {
        const path = `/webhook-deliveries/${id}${end}`;
        const { status, body } = await platform.api.call(method, path, { key });
        return [status, { ...body, requestId: '' }];
      };
      const foreign = await answerFor(deliveryId);
      expect(foreign[0]).toBe(404);
      expect(foreign).toEqual(await answerFor(randomUUID()));
    }
  });
});
