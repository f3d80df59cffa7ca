import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { SubmissionIds } from '../platform/api-client.ts';
import { hexSignature } from '../platform/hex-signature.ts';
import { startTestPlatform, type TestPlatform } from '../platform/test-platform.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../platform/webhook-receiver.ts';

let platform: TestPlatform;
beforeAll(async () => {
  // A destination that fails is tried again while what is known of it is kept.
  platform = await startTestPlatform({
    dispatcher: { RETRY_DELAYS: Array(20).fill('200ms').join() },
  });
});
afterAll(() => platform?.close());

async function startReceiver(): Promise<WebhookReceiver> {
  const receiver = await startWebhookReceiver();
  onTestFinished(() => receiver.close());
  return receiver;
}

async function asPlatform(method: string, end: string, body?: object) {
  const { integrationId, keys } = platform.demo;
  const path = `/platform/integrations/${integrationId}/destination${end}`;
  const answer = await platform.api.call(method, path, {
    key: keys.platform,
    ...(body && { body }),
  });
  expect([200, 204]).toContain(answer.status);
  return answer.body;
}

/** Sets the destination to the receiver, and has it get a webhook: then the dispatcher knows the destination. */
async function useReceiver(receiver: WebhookReceiver): Promise<SubmissionIds> {
  await asPlatform('PUT', '', { url: receiver.url });
  const submission = await platform.submitNewApplication();
  await platform.settle();
  expect(receiver.received).toHaveLength(1);
  return submission;
}

async function decline(submission: SubmissionIds): Promise<void> {
  await platform.recordDecision(submission, { decision: 'DECLINED' });
  await platform.settle();
}

test('once the answer says that a URL is set, no webhook goes to the earlier one', async () => {
  const [earlier, present] = [await startReceiver(), await startReceiver()];
  const submission = await useReceiver(earlier);
  await asPlatform('PUT', '', { url: present.url });
  await decline(submission);
  expect([earlier.received.length, present.received.length]).toEqual([1, 1]);
});

test('once the answer says that a secret is rotated, the new one signs', async () => {
  const receiver = await startReceiver();
  const submission = await useReceiver(receiver);
  const { secret } = await asPlatform('POST', '/secret', { overlapHours: 0 });
  await decline(submission);
  const { headers, body } = receiver.received[1] ?? expect.unreachable();
  expect(headers['x-service-signature']).toBe(hexSignature(secret, body));
});

test('once the answer says that a destination is removed, nothing goes to it', async () => {
  const receiver = await startReceiver();
  const submission = await useReceiver(receiver);
  receiver.answerWith(500);
  await platform.recordDecision(submission, { decision: 'DECLINED' });
  await expect.poll(() => receiver.received.length).toBeGreaterThan(1);
  await asPlatform('DELETE', '');
  const { length } = receiver.received;
  await platform.settle();
  expect(receiver.received).toHaveLength(length);
});
