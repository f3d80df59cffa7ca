// While Kafka is down, callers notice nothing, every process reports the outage, and no event is lost.
import { describeWithKafka, startTestCluster } from '@creditlane/events/kafka/test-kafka';
import type { Demo } from '@creditlane/local/demo/demo';
import type { Readiness } from '@creditlane/runtime/health';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { recordDemoDecision } from './platform/api-client.ts';
import { eventually } from './platform/eventually.ts';
import { LaunchedPlatform } from './platform/launched-platform.ts';
import { MetricSamples } from './platform/metric-samples.ts';
import { createDataDir, removeDataDir } from './platform/temporary-data-dir.ts';
import { WebhookInboxClient } from './platform/webhook-inbox-client.ts';

const REPLICAS = ['decisions', 'decisions-2', 'decisions-3'];
const cluster = await startTestCluster(1);
afterAll(() => cluster?.close());

describeWithKafka(cluster, 'while Kafka is down', ({ brokers, stopBroker, startBroker }) => {
  let dataDir: string;
  let platform: LaunchedPlatform;
  beforeEach(async () => {
    dataDir = await createDataDir('kafka-outage');
    const args = ['--port', '0', '--replicas', 'decisions=3'];
    const env = { KAFKA_BROKERS: brokers, KAFKA_REPLICATION: '1' };
    platform = new LaunchedPlatform({ dataDir, program: 'processes/up.ts', args, env });
  });
  afterEach(async () => {
    await platform.stop();
    await removeDataDir(dataDir);
  });

  test('all replicas answer and stay ready, and report that they do not consume', {
    timeout: 180_000,
  }, async () => {
    const demo = await platform.ready(120_000);
    const inbox = new WebhookInboxClient(demo.inboxUrl);
    await stopBroker(0);
    // The decisions service notices the outage when it cannot publish the event of this decision.
    await recordDemoDecision(demo, 'APPROVED');
    for (const name of [...REPLICAS, 'webhook-dispatcher']) {
      const readiness = await waitForReadiness(demo, name, ({ degraded }) => degraded);
      expect(readiness).toMatchObject({ status: 200, ready: true });
      expect(readiness.checks['event bus']).toMatch(/not consuming/);
      const metrics = await readMetrics(demo, name);
      expect(metrics.sum('health_check', { check: 'event bus' })).toBe(0);
    }

    // A replica killed during the outage starts again and takes calls without Kafka.
    process.kill(demo.services?.['decisions-2']?.pid ?? 0, 'SIGKILL');
    await waitForReadiness(demo, 'decisions-2', ({ ready, degraded }) => ready && degraded);

    let decisions = 1;
    await eventually('calls to every replica', async () => {
      await recordDemoDecision(demo, 'BOOKED');
      decisions += 1;
      const calls = await Promise.all(REPLICAS.map((name) => countCalls(demo, name)));
      return calls.every((count) => count > 0) || undefined;
    });

    await startBroker(0);
    // One webhook per decision, and one for the submission.
    const webhooks = await inbox.waitFor(1 + decisions, 60_000);
    expect(webhooks).toHaveLength(1 + decisions);
    await waitForReadiness(demo, 'decisions-2', ({ ready, degraded }) => ready && !degraded);
  });
});

/** Resolves with a process's answer at /readyz as soon as `isExpected` returns true for it. */
function waitForReadiness(demo: Demo, name: string, isExpected: (readiness: Readiness) => boolean) {
  return eventually(`expected readiness of ${name}`, async () => {
    const answer = await fetch(`${opsUrl(demo, name)}/readyz`).catch(() => undefined);
    if (answer === undefined) return undefined;
    const readiness = { status: answer.status, ...((await answer.json()) as Readiness) };
    return isExpected(readiness) ? readiness : undefined;
  });
}

async function readMetrics(demo: Demo, name: string): Promise<MetricSamples> {
  return new MetricSamples(await (await fetch(`${opsUrl(demo, name)}/metrics`)).text());
}

/** How many calls a process has answered with success. */
async function countCalls(demo: Demo, name: string): Promise<number> {
  return (await readMetrics(demo, name)).sum('rpc_requests_total', { code: 'ok' });
}

/** A process that is started again keeps its ports, so that the URL stays the same. */
function opsUrl({ services }: Demo, name: string): string {
  return services?.[name]?.opsUrl ?? '';
}
