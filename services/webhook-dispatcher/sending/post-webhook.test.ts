import { createSecretKey } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { postWebhook } from './post-webhook.ts';

const HOUR_MS = 3_600_000;
const EXCHANGE_MS = 20;

/** Posts a webhook whose answer comes after `EXCHANGE_MS`, while the clock is set by `setByMs`. */
function postWhileClockIsSet(setByMs: number) {
  let nowMs = Date.UTC(2026, 0, 1);
  const egress = {
    async post() {
      await setTimeout(EXCHANGE_MS);
      nowMs += setByMs;
      return { kind: 'answered', status: 204 } as const;
    },
  };
  return postWebhook(
    { egress, clock: () => new Date(nowMs) },
    {
      id: 'webhook',
      sequence: 1,
      body: '{}',
      eventType: { path: '/application-booked', signatureHeader: 'X-SERVICE-SIGNATURE' },
      destinationId: 'destination',
      destination: {
        integrationId: 'integration',
        integrationName: 'DealerDesk',
        revision: 1,
        url: 'https://receiver.example',
        events: [],
        readsSin: false,
        keys: [createSecretKey(Buffer.from('secret'))],
        usableUntilMs: Infinity,
      },
    },
  );
}

test.each([
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
])('a clock that is set %s during an exchange does not change its duration', async (_, setByMs) => {
  const posted = await postWhileClockIsSet(setByMs);
  expect(posted?.startedAt).toEqual(new Date(Date.UTC(2026, 0, 1)));
  expect(posted?.durationMs).toBeGreaterThanOrEqual(EXCHANGE_MS - 1);
  expect(posted?.durationMs).toBeLessThan(HOUR_MS / 2);
  expect(posted?.durationMs).toSatisfy(Number.isInteger);
});
