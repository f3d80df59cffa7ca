import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';

describe('a receiver that is away for a while', () => {
  let world: TestPlatform;
  beforeAll(async () => {
    // Retries after a second instead of five; nothing else differs.
    world = await startTestPlatform({ dispatcher: { RETRY_DELAYS: '1s,1s,1s,1s,1s,1s' } });
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    await world.settle();
    await world.inbox.empty();
  });
  afterEach(() => world.inbox.behave('accept'));

  test.each(['fail', 'redirect'] as const)(
    'misses nothing and gets all in order after it did %s',
    async (mode) => {
      const submission = await world.submitApplication();
      await world.inbox.waitFor(1);
      const refused = await world.refusals();
      await world.inbox.behave(mode);
      for (const decision of [
        'PENDING_BANK_CONNECTION',
        'CONDITIONALLY_APPROVED',
        'APPROVED',
        'BOOKED',
      ]) {
        expect((await world.decide(submission, { decision })).status).toBe(200);
      }
      await world.refusedSince(refused);
      expect(await world.inbox.arrivals()).toHaveLength(1);

      await world.inbox.behave('accept');
      const arrivals = await world.inbox.waitFor(5);
      expect(arrivals.map(({ path }) => path)).toEqual([
        '/awaiting-decision',
        '/pending-banking',
        '/application-conditionally-approved',
        '/application-approved',
        '/application-booked',
      ]);
      expect(arrivals.map(({ headers }) => headers['webhook-sequence'])).toEqual([
        '1',
        '2',
        '3',
        '4',
        '5',
      ]);
      expect(new Set(arrivals.map(({ headers }) => headers['webhook-id'])).size).toBe(5);
    },
  );

  test('another application’s webhooks do not wait behind one that fails', async () => {
    const [one, two] = [await world.submitApplication(), await world.submitApplication()];
    await world.inbox.waitFor(2);
    const refused = await world.refusals();
    await world.inbox.behave('fail');
    await world.decide(one, { decision: 'APPROVED' });
    await world.refusedSince(refused);
    await world.inbox.behave('accept');
    await world.decide(two, { decision: 'DECLINED' });
    const arrivals = await world.inbox.waitFor(4);
    expect(arrivals.slice(2).map(({ path }) => path)).toEqual([
      '/application-declined',
      '/application-approved',
    ]);
  });
});
