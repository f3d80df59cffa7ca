import { expect, onTestFinished, test } from 'vitest';
import { startTestPlatform } from '../platform/test-platform.ts';
import { startWebhookReceiver } from '../platform/webhook-receiver.ts';

test('an integration gets no more webhooks a second than the platform has set, in order, until the limit is removed', async () => {
  const platform = await startTestPlatform({ dispatcher: { DESTINATIONS_CACHE: '0ms' } });
  onTestFinished(() => platform.close());
  const receiver = await startWebhookReceiver();
  onTestFinished(() => receiver.close());
  const { integrationId, keys } = platform.demo;
  const path = `/platform/integrations/${integrationId}`;
  const setLimit = async (deliveriesPerSecond?: number) => {
    const body = { url: receiver.url, deliveriesPerSecond };
    const set = await platform.api.call('PUT', `${path}/destination`, { key: keys.platform, body });
    expect(set.status).toBe(200);
  };
  /** As the platform and the owner see the destination. */
  const limits = async () => [
    (await platform.api.call('GET', path, { key: keys.platform })).body.destination,
    (await platform.api.get('/webhook-destination')).body,
  ];
  await setLimit(1);
  const limited = { url: receiver.url, deliveriesPerSecond: 1 };
  expect(await limits()).toMatchObject([limited, limited]);
  const startedMs = performance.now();
  const { applicationId } = await platform.submitNewApplication();
  const submission = { applicationId, creditorId: platform.demo.creditorId };
  await platform.recordDecision(submission, { decision: 'DECLINED' });
  await platform.submitNewApplication();
  await platform.settle();
  const { received } = receiver;
  const own = received.filter(({ body }) => JSON.parse(body).applicationId === applicationId);
  expect(own.map(({ path }) => path)).toEqual(['/awaiting-decision', '/application-declined']);
  expect(received).toHaveLength(3);
  // A second lies between two attempts.
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(2_000);

  await setLimit();
  for (const shown of await limits()) expect(shown).not.toHaveProperty('deliveriesPerSecond');
});
