// What a receiver refuses holds up nothing else: a receiver that answers is not down.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestFixture, type TestFixture, upTo } from '../test-fixture.ts';
import { accept, answer } from '../test-receiver.ts';

/** Of the retry delays: so short that refused deliveries are due again and again while the others are sent. */
const RETRY_DELAYS = Array(50).fill('200ms').join(',');

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

/** Has the receiver answer with the status to these applications, and with success to all others. */
async function startRefusing(applicationIds: readonly string[], status: number) {
  const receiver = await fixture.addReceiver();
  const refuse = answer(status);
  const isRefused = (body: string) => applicationIds.includes(JSON.parse(body).applicationId);
  receiver.respondWith((received, response) =>
    (isRefused(received.body) ? refuse : accept)(received, response),
  );
  const accepted = () =>
    new Set(
      receiver.received.flatMap(({ body }) =>
        isRefused(body) ? [] : [JSON.parse(body).applicationId],
      ),
    );
  return { ...receiver, accepted };
}

const newIds = (count: number) => upTo(count).map(() => randomUUID());

describe('a receiver that refuses the events of 100 applications', () => {
  test.each([400, 401, 404, 409, 413, 422])(
    'with %i gets those of others, and no circuit breaker opens',
    async (status) => {
      const refused = newIds(100);
      const receiver = await startRefusing(refused, status);
      const { bus, metrics } = await fixture.start({ RETRY_DELAYS });
      await bus.publish(refused.map((applicationId) => fixture.event({ applicationId })));
      await expect.poll(() => receiver.received.length).toBeGreaterThan(100);
      const others = newIds(8);
      await bus.publish(others.map((applicationId) => fixture.event({ applicationId })));
      await expect.poll(receiver.accepted).toEqual(new Set(others));
      expect(await metrics()).toMatch(/^creditlane_webhook_breakers\{.*state="open".*\} 0$/m);
    },
  );

  test('with 500 gets one of others by its next probe, and then the rest', async () => {
    const refused = newIds(100);
    const receiver = await startRefusing(refused, 500);
    const { bus, metrics } = await fixture.start({ RETRY_DELAYS });
    await bus.publish(refused.map((applicationId) => fixture.event({ applicationId })));
    const isOpen = async () =>
      /^creditlane_webhook_breakers\{.*"open".*\} 1$/m.test(await metrics());
    await expect.poll(isOpen).toBe(true);
    // All were tried, so that the new ones are those that have not failed.
    await fixture.sql.query('UPDATE deliveries SET attempts = attempts + 1 WHERE attempts = 0');
    const others = newIds(8);
    await bus.publish(others.map((applicationId) => fixture.event({ applicationId })));
    await expect.poll(receiver.accepted, { timeout: 30_000 }).toEqual(new Set(others));
  });
});
