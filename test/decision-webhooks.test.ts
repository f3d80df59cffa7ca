import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { decisionPath } from './platform/api-client.ts';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';
import type { Arrival } from './platform/webhook-inbox.ts';

/** Every value a creditor may write, and the webhook that tells of it. */
const JOURNEYS = [
  ['BOOKED', '/application-booked', 'BOOKED'],
  ['APPROVED', '/application-approved', 'APPROVED'],
  ['CONDITIONALLY_APPROVED', '/application-conditionally-approved', 'CONDITIONALLY_APPROVED'],
  ['DOCUMENTS_INCOMPLETE', '/documents-incomplete', 'INCOMPLETE'],
  ['INCOMPLETE', '/documents-incomplete', 'INCOMPLETE'],
  ['PENDING_BANK_CONNECTION', '/pending-banking', 'PENDING_BANK_CONNECTION'],
  ['DECLINED', '/application-declined', 'DECLINED'],
] as const;

const TERMS = { firstPaymentDate: '2027-02-01', paymentFrequency: 'BI_WEEKLY', interestRate: 6.49 };

describe('a decision becomes a signed webhook', () => {
  let world: TestPlatform;
  beforeAll(async () => {
    world = await startTestPlatform();
  });
  afterAll(() => world.close());
  beforeEach(() => world.inbox.empty());

  test.each(JOURNEYS)('%s arrives at %s with status %s', async (decision, path, status) => {
    const submission = await world.submitApplication();
    await world.inbox.waitFor(1);
    await world.inbox.empty();
    const answer = await world.decide(submission, { decision, ...TERMS, conditions: 'Pay stub' });

    expect(answer.status).toBe(200);
    const [arrival] = await world.inbox.waitFor(1);
    expect(arrival?.path).toBe(path);
    expect(JSON.parse(arrival?.body ?? '')).toMatchObject({
      ...submission,
      retailerId: world.demo.retailerId,
      status,
      conditions: 'Pay stub',
    });
  });

  test('WITHDRAWN is recorded and readable, and no webhook tells of it', async () => {
    const submission = await world.submitApplication();
    await world.decide(submission, { decision: 'WITHDRAWN' });
    await world.decide(submission, { decision: 'DECLINED' });

    const arrivals = await world.inbox.waitFor(2);
    expect(arrivals.map(({ path }) => path)).toEqual([
      '/awaiting-decision',
      '/application-declined',
    ]);
    const history = await world.api.get(`${decisionPath(submission)}s`);
    expect(history.body.data.map(({ decision }: { decision: string }) => decision)).toEqual([
      'DECLINED',
      'WITHDRAWN',
      'AWAITING_DECISION',
    ]);
  });

  test('submission itself is told as awaiting-decision, and read back as AWAITING_DECISION', async () => {
    const submission = await world.submitApplication();
    const [arrival] = await world.inbox.waitFor(1);
    expect(arrival?.path).toBe('/awaiting-decision');
    expect(JSON.parse(arrival?.body ?? '')).toEqual({
      ...submission,
      retailerId: world.demo.retailerId,
      status: 'AWAITING_DECISION',
    });
    const read = await world.api.get(decisionPath(submission));
    expect(read.body).toMatchObject({ ...submission, decision: 'AWAITING_DECISION' });
  });

  test('an approval carries its terms, hyphenated frequency and what it changed', async () => {
    const submission = await world.submitApplication();
    await world.decide(submission, {
      decision: 'APPROVED',
      ...TERMS,
      paymentAmount: 412.37,
      term: 72,
    });
    const [, arrival] = await world.inbox.waitFor(2);
    expect(JSON.parse(arrival?.body ?? '')).toEqual({
      ...submission,
      retailerId: world.demo.retailerId,
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

  test('terms a decision leaves out come from the latest one that had them, else the worksheet', async () => {
    const submission = await world.submitApplication();
    await world.decide(submission, { decision: 'CONDITIONALLY_APPROVED', interestRate: 5.25 });
    await world.decide(submission, { decision: 'DOCUMENTS_INCOMPLETE' });
    const [, first, second] = await world.inbox.waitFor(3);
    for (const arrival of [first, second]) {
      expect(JSON.parse(arrival?.body ?? '')).toMatchObject({
        firstPaymentDate: '2027-01-15',
        frequency: 'MONTHLY',
        interestRate: 5.25,
      });
    }
  });

  test('both signatures verify with the destination’s secret, and neither with another', async () => {
    await world.submitApplication();
    const [arrival] = (await world.inbox.waitFor(1)) as [Arrival];
    const { webhookSecret } = world.demo;
    expect(arrival.headers['x-service-signature']).toBe(hexSignature(webhookSecret, arrival.body));
    expect(() => new Webhook(webhookSecret).verify(arrival.body, arrival.headers)).not.toThrow();
    const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    expect(() => new Webhook(other).verify(arrival.body, arrival.headers)).toThrow();
    expect(() => new Webhook(webhookSecret).verify(`${arrival.body} `, arrival.headers)).toThrow();
  });

  test('the webhooks of one submission are numbered 1, 2, 3 …', async () => {
    const submission = await world.submitApplication();
    for (const decision of ['DOCUMENTS_INCOMPLETE', 'APPROVED', 'BOOKED']) {
      await world.decide(submission, { decision });
    }
    const arrivals = await world.inbox.waitFor(4);
    expect(arrivals.map(({ headers }) => headers['webhook-sequence'])).toEqual([
      '1',
      '2',
      '3',
      '4',
    ]);
  });
});

/** Lower-case hex HMAC-SHA256 of the body bytes, keyed with the bytes behind `whsec_`. */
function hexSignature(secret: string, body: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return createHmac('sha256', key).update(body).digest('hex');
}
