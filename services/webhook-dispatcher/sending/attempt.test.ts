import { createSecretKey, randomBytes } from 'node:crypto';
import { silentLog } from '@creditlane/runtime/test-log';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Destination } from '../destinations/destinations.ts';
import { DispatcherMetrics } from '../dispatcher-metrics.ts';
import type { Post } from '../egress/egress.ts';
import { decisionSource } from '../events/decision-events.ts';
import { GRANT_MS } from '../queue/delivery.ts';
import { leasedDelivery } from '../test-deliveries.ts';
import { createAttempt, type Permission } from './attempt.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const found: Destination = {
  integrationId: 'integration',
  revision: 1,
  url: 'https://receiver.example/',
  events: [],
  readsSin: false,
  keys: [createSecretKey(randomBytes(32))],
};

/** An attempt whose connection takes so long to open; `grantEndMs` is what the integrations service answers. */
function startAttempt(permission: Partial<Permission>, openingMs: number, grantEndMs = Infinity) {
  const { eventTypes } = decisionSource({ find: async () => [] });
  const attempt = createAttempt({
    eventTypes: new Map(eventTypes.map((it) => [it.name, it as never])),
    destinations: {
      get: async () => found,
      getUncached: async () => found,
      grantEndMs: async () => grantEndMs,
    },
    egress: {
      post: async ({ maySend }: Post) => {
        vi.advanceTimersByTime(openingMs);
        return maySend?.() ? { kind: 'answered', status: 204 } : undefined;
      },
    },
    rates: { note: () => undefined },
    delaysMs: [],
    metrics: new DispatcherMetrics(createTestProcess('webhook-dispatcher').metrics, 1),
    log: silentLog,
    clock: () => new Date(),
    random: Math.random,
  });
  return attempt(leasedDelivery(), {
    maySend: () => true,
    hasPermit: () => false,
    takePermit: async () => false,
    grantedUntilMs: Infinity,
    ...permission,
  });
}

test('a delivery is not tried whose connection opens after the grant of the intake may be relied on', async () => {
  const permission = { grantedUntilMs: performance.now() + GRANT_MS };
  expect(await startAttempt(permission, GRANT_MS - 1)).toMatchObject({ state: 'delivered' });
  expect(await startAttempt(permission, 1)).toMatchObject({ kind: 'untried' });
});

test('a delivery is not tried whose connection opens after a grant that was asked for may be relied on', async () => {
  const endMs = performance.now() + GRANT_MS;
  const permission = { grantedUntilMs: 0 };
  expect(await startAttempt(permission, GRANT_MS - 1, endMs)).toMatchObject({ state: 'delivered' });
  expect(await startAttempt(permission, 1, endMs)).toMatchObject({ kind: 'untried' });
});
