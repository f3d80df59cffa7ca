import { createSecretKey, randomBytes } from 'node:crypto';
import { DESTINATION_USABLE_MS } from '@creditlane/egress-rules/destination-url';
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
  integrationName: 'DealerDesk',
  revision: 1,
  url: 'https://receiver.example/',
  events: [],
  readsSin: false,
  keys: [createSecretKey(randomBytes(32))],
  usableUntilMs: Infinity,
};

/** What the integrations service answers. */
interface Answers {
  grantEndMs?: number;
  usableUntilMs?: number;
  /** Of the second answer, just before the request. */
  revision?: number;
}

/** An attempt whose connection takes so long to open. */
function startAttempt(permission: Partial<Permission>, openingMs: number, answers: Answers = {}) {
  const { grantEndMs = Infinity, usableUntilMs = Infinity, revision = 1 } = answers;
  const get = vi
    .fn(async () => ({ ...found, usableUntilMs, revision }))
    .mockResolvedValueOnce({ ...found, usableUntilMs });
  const { eventTypes } = decisionSource({ find: async () => [] });
  const attempt = createAttempt({
    eventTypes: new Map(eventTypes.map((it) => [it.name, it as never])),
    destinations: {
      get,
      getUncached: get,
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
    destinationLog: () => undefined,
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
  const grantEndMs = performance.now() + GRANT_MS;
  const permission = { grantedUntilMs: 0 };
  const sent = { state: 'delivered' };
  expect(await startAttempt(permission, GRANT_MS - 1, { grantEndMs })).toMatchObject(sent);
  expect(await startAttempt(permission, 1, { grantEndMs })).toMatchObject({ kind: 'untried' });
});

test('a delivery is not tried whose connection opens after its destination may be used', async () => {
  const usableUntilMs = performance.now() + DESTINATION_USABLE_MS;
  const openingMs = DESTINATION_USABLE_MS - 1;
  const sent = { state: 'delivered' };
  expect(await startAttempt({}, openingMs, { usableUntilMs })).toMatchObject(sent);
  expect(await startAttempt({}, 1, { usableUntilMs })).toMatchObject({ kind: 'untried' });
});

test('a delivery is not tried whose destination was set anew while it was prepared', async () => {
  const usableUntilMs = performance.now() + 1;
  const answers = { usableUntilMs, revision: 2 };
  expect(await startAttempt({}, 0, answers)).toMatchObject({ kind: 'untried' });
});
