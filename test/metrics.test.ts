import { DATABASES, SERVICES } from '@creditlane/platform/services';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SubmissionIds } from './platform/api-client.ts';
import { MetricSamples } from './platform/metric-samples.ts';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';

const PUBLISHERS = SERVICES.flatMap((it) => ('publishes' in it ? [it.name] : []));
const CONSUMERS = SERVICES.flatMap((it) => ('consumes' in it ? [it.name] : []));

describe('the metrics of a running platform', () => {
  let platform: TestPlatform;
  let submission: SubmissionIds;
  beforeAll(async () => {
    platform = await startTestPlatform({ dispatcher: { RETRY_DELAYS: '1h' } });
    submission = await platform.submitNewApplication();
    await platform.settle();
  });
  afterAll(() => platform.close());

  const readMetrics = async () => new MetricSamples(await platform.metrics());

  /** Runs `act`, waits until all its webhooks are settled, and returns by how much each metric grew. */
  async function measureGrowth(act: () => Promise<unknown>) {
    const before = await readMetrics();
    await act();
    await platform.settle();
    const after = await readMetrics();
    return (name: string, labels?: Record<string, string>) =>
      after.sum(name, labels) - before.sum(name, labels);
  }

  test('three decisions count three times at every stage from the request to the webhook', async () => {
    const growthOf = await measureGrowth(async () => {
      for (const decision of ['DOCUMENTS_INCOMPLETE', 'APPROVED', 'BOOKED']) {
        await platform.recordDecision(submission, { decision });
      }
      await platform.recordDecision(submission, { decision: 'PERHAPS' });
    });
    const operation = 'recordDecision';
    expect(growthOf('http_requests_total', { operation, status: '200' })).toBe(3);
    expect(growthOf('http_requests_total', { operation, status: '400' })).toBe(1);
    expect(growthOf('http_request_duration_seconds_count', { operation })).toBe(4);
    const method = 'RecordDecision';
    expect(growthOf('rpc_requests_total', { method, code: 'ok' })).toBe(3);
    expect(growthOf('rpc_duration_seconds_count', { method, code: 'ok' })).toBe(3);
    const source = 'decisions';
    expect(growthOf('outbox_published_total', { source })).toBe(3);
    expect(growthOf('outbox_publish_delay_seconds_count', { source })).toBe(3);
    const consumer = 'webhook-dispatcher';
    expect(growthOf('inbox_events_total', { consumer, outcome: 'applied' })).toBe(3);
    expect(growthOf('webhook_attempts_total', { outcome: 'delivered' })).toBe(3);
    expect(growthOf('webhook_latency_seconds_count')).toBe(3);
    expect(growthOf('webhook_latency_seconds_sum')).toBeGreaterThan(0);
    expect(growthOf('webhook_latency_seconds_sum')).toBeLessThan(60);
  });

  test.each(PUBLISHERS)('the relay of %s holds all shards', async (source) => {
    // None between the end of a lease, which a paused process does not renew in time, and its renewal.
    await expect
      .poll(async () => (await readMetrics()).gauge('outbox_shards_held', { source }))
      .toBe(4);
  });

  test('a settled platform shows empty outboxes, no backlog and no open circuit breaker', async () => {
    const metrics = await readMetrics();
    for (const source of PUBLISHERS) {
      expect(metrics.gauge('outbox_depth', { source })).toBe(0);
      expect(metrics.gauge('outbox_oldest_seconds', { source })).toBe(0);
    }
    for (const state of ['waiting', 'due', 'dead']) {
      expect(metrics.gauge('webhook_backlog', { state })).toBe(0);
    }
    expect(metrics.gauge('webhook_in_hand')).toBe(0);
    expect(metrics.gauge('webhook_oldest_undelivered_seconds')).toBe(0);
    expect(metrics.gauge('dead_letters')).toBe(0);
    expect(metrics.gauge('webhook_breakers', { state: 'open' })).toBe(0);
    expect(metrics.sum('metric_collect_failures_total')).toBe(0);
  });

  test.each(CONSUMERS)('the consumer lag of %s is exported and falls to 0', async (group) => {
    // Each process reads the lag from Kafka every few seconds.
    const lag = async () => (await readMetrics()).gauge('consumer_lag', { group });
    await expect.poll(lag, { timeout: 15_000 }).toBe(0);
  });

  test('every database pool exports its connections, and no caller waits for one', async () => {
    const metrics = await readMetrics();
    for (const database of Object.keys(DATABASES)) {
      const size = metrics.gauge('database_pool_size', { database });
      const idle = metrics.gauge('database_connections', { database, state: 'idle' });
      const busy = metrics.gauge('database_connections', { database, state: 'busy' });
      expect(idle + busy).toBeGreaterThan(0);
      expect(idle + busy).toBeLessThanOrEqual(size);
      expect(metrics.gauge('database_connections', { database, state: 'waiting' })).toBe(0);
    }
  });

  test('a failed delivery counts as a retry and shows in the backlog with its age', async () => {
    await platform.inbox.setBehaviour('fail');
    const growthOf = await measureGrowth(() =>
      platform.recordDecision(submission, { decision: 'DECLINED' }),
    );
    await platform.inbox.setBehaviour('accept');
    expect(growthOf('webhook_attempts_total', { outcome: 'retry' })).toBe(1);
    expect(growthOf('webhook_attempts_total', { outcome: 'delivered' })).toBe(0);
    expect(growthOf('webhook_backlog', { state: 'due' })).toBe(1);
    expect(growthOf('webhook_oldest_undelivered_seconds')).toBeGreaterThan(0);
  });

  test('a platform without a trace endpoint exports no trace metrics', async () => {
    const { names } = await readMetrics();
    expect([...names].filter((name) => name.includes('trace'))).toEqual([]);
  });

  test('labels come from a closed set and contain no id, key or address', async () => {
    const { samples } = await readMetrics();
    const values = new Set(samples.flatMap(({ labels }) => Object.values(labels)));
    const id = /[0-9a-f]{8}-[0-9a-f]{4}|[0-9a-f]{16,}|cl_(live|test)_|whsec_|:\/\//i;
    expect([...values].filter((value) => id.test(value))).toEqual([]);
    // Every operation and every method is among them from the start.
    expect(values.size).toBeLessThan(350);
  });
});
