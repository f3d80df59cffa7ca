import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../platform/eventually.ts';
import { openTestPlatform } from '../platform/shared-platform.ts';
import type { TestPlatform } from '../platform/test-platform.ts';

describe('a receiver that fails for a while', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    // The first retries come after one second instead of five.
    platform = await openTestPlatform({ dispatcher: { RETRY_DELAYS: '1s,1s,1s,1s,1s,1s' } });
  });
  afterAll(() => platform.close());
  beforeEach(async () => {
    await platform.settle();
    await platform.inbox.clear();
  });
  afterEach(() => platform.inbox.setBehaviour('accept'));

  test.each(['fail', 'redirect'] as const)(
    'after failing with mode "%s" the receiver gets every webhook in order',
    async (mode) => {
      const submission = await platform.submitNewApplication();
      await platform.inbox.waitFor(1);
      const failedBefore = await platform.countFailedAttempts();
      await platform.inbox.setBehaviour(mode);
      for (const decision of [
        'PENDING_BANK_CONNECTION',
        'CONDITIONALLY_APPROVED',
        'APPROVED',
        'BOOKED',
      ]) {
        expect((await platform.recordDecision(submission, { decision })).status).toBe(200);
      }
      await platform.waitForFailedAttempt(failedBefore);
      expect(await platform.inbox.list()).toHaveLength(1);

      await platform.inbox.setBehaviour('accept');
      const webhooks = await platform.inbox.waitFor(5);
      expect(webhooks.map(({ path }) => path)).toEqual([
        '/awaiting-decision',
        '/pending-banking',
        '/application-conditionally-approved',
        '/application-approved',
        '/application-booked',
      ]);
      expect(webhooks.map(({ headers }) => headers['webhook-sequence'])).toEqual([
        '1',
        '2',
        '3',
        '4',
        '5',
      ]);
      expect(new Set(webhooks.map(({ headers }) => headers['webhook-id'])).size).toBe(5);
    },
  );

  test('a failing webhook delays only the webhooks of the same application', async () => {
    const [failing, other] = [
      await platform.submitNewApplication(),
      await platform.submitNewApplication(),
    ];
    await platform.inbox.waitFor(2);
    /** Plans the retry of the failed webhook; undefined while no retry is planned. */
    const retryIn = async (delay: string) => {
      const [set] = await platform.runSql(
        'webhook-dispatcher',
        `UPDATE deliveries SET next_attempt_at = now() + interval '${delay}'
         WHERE application_id = '${failing.applicationId}' AND state = 'due' AND attempts > 0 AND NOT leased
         RETURNING id`,
      );
      return set;
    };
    await platform.inbox.setBehaviour('fail');
    await platform.recordDecision(failing, { decision: 'APPROVED' });
    await eventually('failed attempt', () => retryIn('1 hour'));
    await platform.inbox.setBehaviour('accept');
    await platform.recordDecision(other, { decision: 'DECLINED' });
    await platform.inbox.waitFor(3);
    expect(await retryIn('0 s')).toBeDefined();
    const webhooks = await platform.inbox.waitFor(4);
    expect(webhooks.slice(2).map(({ path }) => path)).toEqual([
      '/application-declined',
      '/application-approved',
    ]);
  });
});
