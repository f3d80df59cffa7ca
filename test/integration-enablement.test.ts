import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decisionPath } from './platform/api-client.ts';
import { eventually } from './platform/eventually.ts';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';

/** A withdrawn or disabled grant stops working within five seconds; the rest is for a busy machine. */
const WITHIN_MS = 5_500;

describe('an integration is enabled for a creditor', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform();
  });
  afterAll(() => platform.close());

  const change = async (operation: string, body: object = {}) => {
    const { creditorId } = platform.demo;
    const answer = await platform.api.post(`/creditors/${operation}`, { creditorId, ...body });
    return [answer.status, answer.body];
  };
  const setTo = (status: string) => [200, { creditorId: platform.demo.creditorId, status }];
  const decide = () => platform.recordDecision(platform.demo, { decision: 'INCOMPLETE' });
  const untilDecided = (status: number) =>
    eventually(
      `answer ${status}`,
      async () => ((await decide()).status === status ? true : undefined),
      WITHIN_MS,
    );

  test('before it was requested it cannot be enabled, and works by its grant', async () => {
    expect(await change('enable-integration')).toMatchObject([
      409,
      { code: 'integration_not_requested' },
    ]);
    expect((await decide()).status).toBe(200);
  });

  test('disabling blocks decisions within five seconds, and enabling restores them', async () => {
    const disabled = await change('disable-integration', { reason: 'The contract ended.' });
    expect(disabled).toEqual(setTo('DISABLED'));
    await untilDecided(400);
    expect((await decide()).body.code).toBe('submission_not_found');

    const status = await platform.api.get(`/creditors/${platform.demo.creditorId}/integration`);
    expect(status.body).toEqual({
      creditorId: platform.demo.creditorId,
      status: 'DISABLED',
      reason: 'The contract ended.',
      setAt: expect.any(String),
    });
    expect(await change('enable-integration')).toMatchObject([409, {}]);
    expect(await change('integration-status', { status: 'REQUESTED' })).toEqual(setTo('REQUESTED'));
    expect(await change('enable-integration')).toEqual(setTo('ENABLED'));
    await untilDecided(200);
  });

  test('while it is disabled, the grant on the retailer goes on working', async () => {
    await change('disable-integration');
    await untilDecided(400);
    expect((await platform.api.get(decisionPath(platform.demo))).status).toBe(200);
    await change('integration-status', { status: 'REQUESTED' });
    await untilDecided(200);
  });
});
