import { verifyWebhook, type WebhookEvent } from '@creditlane/client/webhooks';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { decisionPath } from '../platform/api-client.ts';
import { hexSignature } from '../platform/hex-signature.ts';
import { openTestPlatform } from '../platform/shared-platform.ts';
import type { TestPlatform } from '../platform/test-platform.ts';
import type { ReceivedWebhook } from '../platform/webhook-inbox-client.ts';

/** Every decision that a creditor may record and that sends a webhook: its path, its `status`, and its type for the client. */
const WEBHOOK_OF_DECISION = [
  { decision: 'BOOKED', path: '/application-booked', status: 'BOOKED', type: 'applicationBooked' },
  {
    decision: 'APPROVED',
    path: '/application-approved',
    status: 'APPROVED',
    type: 'applicationApproved',
  },
  {
    decision: 'CONDITIONALLY_APPROVED',
    path: '/application-conditionally-approved',
    status: 'CONDITIONALLY_APPROVED',
    type: 'applicationConditionallyApproved',
  },
  {
    decision: 'DOCUMENTS_INCOMPLETE',
    path: '/documents-incomplete',
    status: 'INCOMPLETE',
    type: 'documentsIncomplete',
  },
  {
    decision: 'INCOMPLETE',
    path: '/documents-incomplete',
    status: 'INCOMPLETE',
    type: 'documentsIncomplete',
  },
  {
    decision: 'PENDING_BANK_CONNECTION',
    path: '/pending-banking',
    status: 'PENDING_BANK_CONNECTION',
    type: 'pendingBanking',
  },
  {
    decision: 'DECLINED',
    path: '/application-declined',
    status: 'DECLINED',
    type: 'applicationDeclined',
  },
];

const TERMS = { firstPaymentDate: '2027-02-01', paymentFrequency: 'BI_WEEKLY', interestRate: 6.49 };

describe('a recorded decision sends a signed webhook', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await openTestPlatform();
  });
  afterAll(() => platform.close());
  beforeEach(() => platform.inbox.clear());

  /** As a subscriber does with the published client. */
  async function verify(webhook: ReceivedWebhook | undefined): Promise<WebhookEvent> {
    const { body = '', headers = {} } = webhook ?? {};
    return verifyWebhook({ body, headers, secrets: platform.demo.webhookSecret });
  }

  test.each(WEBHOOK_OF_DECISION)(
    '$decision sends a webhook to $path with status $status',
    async ({ decision, path, status, type }) => {
      const submission = await platform.submitNewApplication();
      await platform.inbox.waitFor(1);
      await platform.inbox.clear();
      const answer = await platform.recordDecision(submission, {
        decision,
        ...TERMS,
        conditions: 'Pay stub',
      });

      expect(answer.status).toBe(200);
      const [webhook] = await platform.inbox.waitFor(1);
      expect(webhook?.path).toBe(path);
      const event = await verify(webhook);
      expect(event.type).toBe(type);
      expect(event.payload).toMatchObject({
        ...submission,
        retailerId: platform.demo.retailerId,
        status,
        conditions: 'Pay stub',
      });
    },
  );

  test('WITHDRAWN is recorded and can be read, and sends no webhook', async () => {
    const submission = await platform.submitNewApplication();
    await platform.recordDecision(submission, { decision: 'WITHDRAWN' });
    await platform.recordDecision(submission, { decision: 'DECLINED' });

    const webhooks = await platform.inbox.waitFor(2);
    expect(webhooks.map(({ path }) => path)).toEqual([
      '/awaiting-decision',
      '/application-declined',
    ]);
    const history = await platform.api.get(`${decisionPath(submission)}s`);
    expect(history.body.data.map(({ decision }: { decision: string }) => decision)).toEqual([
      'DECLINED',
      'WITHDRAWN',
      'AWAITING_DECISION',
    ]);
  });

  test('a submission sends /awaiting-decision, and its decision reads AWAITING_DECISION', async () => {
    const submission = await platform.submitNewApplication();
    const [webhook] = await platform.inbox.waitFor(1);
    expect(webhook?.path).toBe('/awaiting-decision');
    expect((await verify(webhook)).payload).toEqual({
      ...submission,
      retailerId: platform.demo.retailerId,
      status: 'AWAITING_DECISION',
    });
    const read = await platform.api.get(decisionPath(submission));
    expect(read.body).toMatchObject({ ...submission, decision: 'AWAITING_DECISION' });
  });

  test('the webhook of an approval has its terms, a hyphenated frequency and what changed since the submission', async () => {
    const submission = await platform.submitNewApplication();
    await platform.recordDecision(submission, {
      decision: 'APPROVED',
      ...TERMS,
      paymentAmount: 412.37,
      term: 72,
    });
    const [, webhook] = await platform.inbox.waitFor(2);
    expect((await verify(webhook)).payload).toEqual({
      ...submission,
      retailerId: platform.demo.retailerId,
      status: 'APPROVED',
      firstPaymentDate: '2027-02-01',
      frequency: 'BI-WEEKLY',
      interestRate: 6.49,
      approvedPayment: { amount: 412.37, currency: 'CAD' },
      // The worksheet asked for 7.49 % over 60 months.
      rateReduction: 1,
      termStretch: 12,
    });
  });

  test('terms that a decision leaves out come from the latest decision that has them, else from the worksheet', async () => {
    const submission = await platform.submitNewApplication();
    await platform.recordDecision(submission, {
      decision: 'CONDITIONALLY_APPROVED',
      interestRate: 5.25,
    });
    await platform.recordDecision(submission, { decision: 'DOCUMENTS_INCOMPLETE' });
    const [, first, second] = await platform.inbox.waitFor(3);
    for (const webhook of [first, second]) {
      expect((await verify(webhook)).payload).toMatchObject({
        firstPaymentDate: '2027-01-15',
        frequency: 'MONTHLY',
        interestRate: 5.25,
      });
    }
  });

  test('both signatures verify with the destination’s secret and with no other', async () => {
    await platform.submitNewApplication();
    const [webhook] = (await platform.inbox.waitFor(1)) as [ReceivedWebhook];
    const { webhookSecret } = platform.demo;
    expect(webhook.headers['x-service-signature']).toBe(hexSignature(webhookSecret, webhook.body));
    expect(() => new Webhook(webhookSecret).verify(webhook.body, webhook.headers)).not.toThrow();
    const otherSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    expect(() => new Webhook(otherSecret).verify(webhook.body, webhook.headers)).toThrow();
    expect(() => new Webhook(webhookSecret).verify(`${webhook.body} `, webhook.headers)).toThrow();
    for (const scheme of ['standard', 'hex'] as const) {
      const event = await verifyWebhook({ ...webhook, secrets: webhookSecret, scheme });
      expect(event.type).toBe('awaitingDecision');
      const refused = verifyWebhook({ ...webhook, secrets: otherSecret, scheme });
      await expect(refused).rejects.toMatchObject({ reason: 'signature_mismatch' });
      const respelled = verifyWebhook({
        ...webhook,
        body: `${webhook.body} `,
        secrets: webhookSecret,
        scheme,
      });
      await expect(respelled).rejects.toMatchObject({ reason: 'body_reserialised' });
    }
  });

  test('the webhooks of a submission are numbered 1, 2, 3 …', async () => {
    const submission = await platform.submitNewApplication();
    for (const decision of ['DOCUMENTS_INCOMPLETE', 'APPROVED', 'BOOKED']) {
      await platform.recordDecision(submission, { decision });
    }
    const webhooks = await platform.inbox.waitFor(4);
    expect(webhooks.map(({ headers }) => headers['webhook-sequence'])).toEqual([
      '1',
      '2',
      '3',
      '4',
    ]);
  });
});
