/** While Kafka is down, callers notice nothing, every process reports the outage, and no event is lost. */
import type { Demo } from '@creditlane/local/demo/demo';
import type { Readiness } from '@creditlane/runtime/health';
import { expect } from 'vitest';
import { recordDemoDecision } from '../platform/api-client.ts';
import { eventually } from '../platform/eventually.ts';
import { MetricSamples } from '../platform/metric-samples.ts';
import { WebhookInboxClient } from '../platform/webhook-inbox-client.ts';
import type { SystemUnderTest } from './system-under-test.ts';

const DECISIONS = ['decisions', 'decisions-2'];
const DISPATCHERS = ['webhook-dispatcher', 'webhook-dispatcher-2'];

/**
 * Takes Kafka away from a platform that was just started, of two replicas each of the decisions service and of the
 * webhook dispatcher, by `withoutKafka`, which runs its argument and starts Kafka again.
 */
export async function expectServedWithoutKafka(
  system: SystemUnderTest,
  withoutKafka: (work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { demo } = system;
  const inbox = new WebhookInboxClient(demo.inboxUrl);
  let decisions = 0;
  await withoutKafka(async () => {
    // The decisions service notices the outage when it cannot publish the event of this decision.
    await recordDemoDecision(demo, 'APPROVED');
    decisions += 1;
    for (const name of [...DECISIONS, ...DISPATCHERS]) {
      const readiness = await waitForReadiness(demo, name, ({ degraded }) => degraded);
      expect(readiness).toMatchObject({ status: 200, ready: true });
      expect(readiness.checks['event bus']).toMatch(/not consuming/);
      const metrics = await readMetrics(demo, name);
      expect(metrics.gauge('health_check', { check: 'event bus' })).toBe(0);
    }

    // A replica killed during the outage starts again and takes calls without Kafka.
    await system.restartService('decisions-2', 'SIGKILL');
    await waitForReadiness(demo, 'decisions-2', ({ ready, degraded }) => ready && degraded);

    await eventually('decisions recorded by every replica', async () => {
      await recordDemoDecision(demo, 'BOOKED');
      decisions += 1;
      const calls = await Promise.all(DECISIONS.map((name) => countDecisions(demo, name)));
      return calls.every((count) => count > 0) || undefined;
    });
  });
  // One webhook per decision, and one for the submission.
  const webhooks = await inbox.waitFor(1 + decisions, 60_000);
  expect(webhooks).toHaveLength(1 + decisions);
  await waitForReadiness(demo, 'decisions-2', ({ ready, degraded }) => ready && !degraded);
}

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

/** How many decisions a process has recorded. Other services' calls, such as the reconcilers', do not count. */
async function countDecisions(demo: Demo, name: string): Promise<number> {
  const labels = { method: 'RecordDecision', code: 'ok' };
  return (await readMetrics(demo, name)).sum('rpc_requests_total', labels);
}

/** A process that is started again keeps its ports, so that the URL stays the same. */
function opsUrl({ services }: Demo, name: string): string {
  return services?.[name]?.opsUrl ?? '';
}
