import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Figures } from './platform/metric-samples.ts';
import {
  type SubmissionIds,
  startTestPlatform,
  type TestPlatform,
} from './platform/test-platform.ts';

describe('the metrics', () => {
  let world: TestPlatform;
  let submission: SubmissionIds;
  beforeAll(async () => {
    world = await startTestPlatform({ dispatcher: { RETRY_DELAYS: '1h' } });
    submission = await world.submitApplication();
    await world.settle();
  });
  afterAll(() => world.close());

  const read = async () => new Figures(await world.metrics());

  /** How much each figure has grown by what `act` did, once that has come to its end. */
  async function growth(act: () => Promise<unknown>) {
    const before = await read();
    await act();
    await world.settle();
    const after = await read();
    return (name: string, labels?: Record<string, string>) =>
      after.sum(name, labels) - before.sum(name, labels);
  }

  test('count a journey from the request to the webhook', async () => {
    const grown = await growth(async () => {
      for (const decision of ['DOCUMENTS_INCOMPLETE', 'APPROVED', 'BOOKED']) {
        await world.decide(submission, { decision });
      }
      await world.decide(submission, { decision: 'PERHAPS' });
    });
    const operation = 'recordDecision';
    expect(grown('http_requests_total', { operation, status: '200' })).toBe(3);
    expect(grown('http_requests_total', { operation, status: '400' })).toBe(1);
    expect(grown('http_request_duration_seconds_count', { operation })).toBe(4);
    const method = 'RecordDecision';
    expect(grown('rpc_requests_total', { method, code: 'ok' })).toBe(3);
    expect(grown('rpc_duration_seconds_count', { method, code: 'ok' })).toBe(3);
    const source = 'decisions';
    expect(grown('outbox_published_total', { source })).toBe(3);
    expect(grown('outbox_publish_delay_seconds_count', { source })).toBe(3);
    const consumer = 'webhook-dispatcher';
    expect(grown('inbox_events_total', { consumer, outcome: 'applied' })).toBe(3);
    expect(grown('webhook_attempts_total', { outcome: 'delivered' })).toBe(3);
    expect(grown('webhook_latency_seconds_count')).toBe(3);
    expect(grown('webhook_latency_seconds_sum')).toBeGreaterThan(0);
    expect(grown('webhook_latency_seconds_sum')).toBeLessThan(60);
  });

  test('show that nothing is left behind once all is done', async () => {
    const figures = await read();
    for (const source of ['applications', 'decisions']) {
      expect(figures.sum('outbox_depth', { source })).toBe(0);
      expect(figures.sum('outbox_oldest_seconds', { source })).toBe(0);
      expect(figures.sum('outbox_shards_held', { source })).toBe(4);
    }
    for (const state of ['waiting', 'due', 'dead']) {
      expect(figures.sum('webhook_backlog', { state })).toBe(0);
    }
    expect(figures.sum('webhook_in_hand')).toBe(0);
    expect(figures.sum('webhook_oldest_undelivered_seconds')).toBe(0);
    expect(figures.sum('webhook_dead_letters')).toBe(0);
    expect(figures.sum('webhook_breakers', { state: 'open' })).toBe(0);
    expect(figures.sum('metric_collect_failures_total')).toBe(0);
  });

  test.each(['decisions', 'webhook-dispatcher'])('show how far %s is behind', async (group) => {
    // Kafka is asked for it every few seconds.
    const lag = async () => (await read()).sum('consumer_lag', { group });
    await expect.poll(lag, { timeout: 15_000 }).toBe(0);
    expect((await read()).labelsOf('creditlane_consumer_lag')).toContain('group');
  });

  test('show each pool, and that no caller waits for a connection', async () => {
    const figures = await read();
    for (const database of ['applications', 'decisions', 'integrations', 'webhook-dispatcher']) {
      const size = figures.sum('database_pool_size', { database });
      const idle = figures.sum('database_connections', { database, state: 'idle' });
      const busy = figures.sum('database_connections', { database, state: 'busy' });
      expect(idle + busy).toBeGreaterThan(0);
      expect(idle + busy).toBeLessThanOrEqual(size);
      expect(figures.sum('database_connections', { database, state: 'waiting' })).toBe(0);
    }
  });

  test('show what could not be delivered, and since when', async () => {
    await world.inbox.behave('fail');
    const grown = await growth(() => world.decide(submission, { decision: 'DECLINED' }));
    await world.inbox.behave('accept');
    expect(grown('webhook_attempts_total', { outcome: 'retry' })).toBe(1);
    expect(grown('webhook_attempts_total', { outcome: 'delivered' })).toBe(0);
    expect(grown('webhook_backlog', { state: 'due' })).toBe(1);
    expect(grown('webhook_oldest_undelivered_seconds')).toBeGreaterThan(0);
  });

  test('know of no spans, as no endpoint for traces is named', async () => {
    const { names } = await read();
    expect([...names].filter((name) => name.includes('trace'))).toEqual([]);
  });

  test('are of a closed set: no label holds an id, a key or an address', async () => {
    const { samples } = await read();
    const values = new Set(samples.flatMap(({ labels }) => Object.values(labels)));
    const id = /[0-9a-f]{8}-[0-9a-f]{4}|[0-9a-f]{16,}|cl_(live|test)_|whsec_|:\/\//i;
    expect([...values].filter((value) => id.test(value))).toEqual([]);
    expect(values.size).toBeLessThan(250);
  });
});
