import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SubmissionIds } from '../platform/api-client.ts';
import { startTestPlatform, type TestPlatform } from '../platform/test-platform.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../platform/webhook-receiver.ts';

describe('an integration that the platform has given an event filter', () => {
  let platform: TestPlatform;
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    platform = await startTestPlatform({ dispatcher: { DESTINATIONS_CACHE: '0ms' } });
    receiver = await startWebhookReceiver();
  });
  afterAll(async () => {
    await platform.close();
    await receiver?.close();
  });
  beforeEach(async () => {
    await platform.settle();
    receiver.received.length = 0;
  });

  const asPlatform = async (method: string, path: string, body?: object) => {
    const { integrationId, keys } = platform.demo;
    const answer = await platform.api.call(
      method,
      `/platform/integrations/${integrationId}${path}`,
      { key: keys.platform, ...(body && { body }) },
    );
    expect(answer.status).toBe(200);
    return answer.body;
  };
  /** Sets the destination, without a filter when there are no events. */
  const setFilter = (...events: string[]) =>
    asPlatform('PUT', '/destination', {
      url: receiver.url,
      ...(events.length > 0 && { events }),
    });
  const shownFilter = async () => (await asPlatform('GET', '')).destination.events;

  /** Submits an application, by which it awaits a decision. */
  async function submit(): Promise<SubmissionIds> {
    const { applicationId } = await platform.submitNewApplication();
    await platform.settle();
    return { applicationId, creditorId: platform.demo.creditorId };
  }
  async function decline(submission: SubmissionIds): Promise<void> {
    await platform.recordDecision(submission, { decision: 'DECLINED' });
    await platform.settle();
  }
  const receivedPaths = () => receiver.received.map(({ path }) => path);
  const deliveriesOf = async ({ applicationId }: SubmissionIds) =>
    (await platform.api.get(`/webhook-deliveries?applicationId=${applicationId}`)).body.data;

  test('gets what the filter names alone, numbered without a gap, and nothing later of what it left out', async () => {
    await setFilter('applicationDeclined', 'applicationBooked');
    expect(await shownFilter()).toEqual(['applicationDeclined', 'applicationBooked']);
    const submission = await submit();
    await decline(submission);
    expect(receivedPaths()).toEqual(['/application-declined']);
    expect(receiver.received[0]?.headers['webhook-sequence']).toBe('1');
    expect(await deliveriesOf(submission)).toMatchObject([{ event: 'applicationDeclined' }]);

    await setFilter();
    expect(await shownFilter()).toBeUndefined();
    await submit();
    expect(receivedPaths()).toEqual(['/application-declined', '/awaiting-decision']);
  });

  test('gets no export while the filter lacks it, and the request for one is refused', async () => {
    const submission = await submit();
    await setFilter('applicationDeclined');
    receiver.received.length = 0;
    const refused = await platform.exportApplication(submission);
    expect([refused.status, refused.body.code]).toEqual([404, 'integration_not_found']);
    await setFilter('applicationExported');
    expect((await platform.exportApplication(submission)).status).toBe(202);
    await platform.settle();
    expect(receivedPaths()).toEqual(['/application-exported']);
  });

  test('gets replays and test events that the filter lacks', async () => {
    await setFilter('applicationDeclined');
    const submission = await submit();
    await decline(submission);
    await setFilter('applicationBooked');
    const [{ deliveryId }] = await deliveriesOf(submission);
    const replay = await platform.api.post(`/webhook-deliveries/${deliveryId}/replay`, undefined);
    expect(replay.status).toBe(202);
    await platform.settle();
    const tested = await platform.api.post('/webhook-test-events', { event: 'awaitingDecision' });
    expect(tested.body.succeeded).toBe(true);
    expect(receivedPaths()).toEqual([
      '/application-declined',
      '/application-declined',
      '/awaiting-decision',
    ]);
  });
});
