/** The load on an installation, judged by the history checker of the fault tests. */
import { expect } from 'vitest';
import { PROFILE } from '../faults/run-profile.ts';
import { runWithFault } from '../faults/run-with-fault.ts';
import { MetricSamples } from '../platform/metric-samples.ts';
import { type Installation, RECEIVER } from './installation.ts';
import type { OutsidePlatform } from './platform.ts';

/** Well below what one replica of each service serves on a busy machine. */
const LOAD = {
  ...PROFILE,
  perSecond: 12,
  loadMs: 10_000,
  applications: 10,
  // A busy machine answers late, which is no failure.
  requestTimeoutMs: 30_000,
  settleWithinMs: 120_000,
};

interface LoadedWork {
  name: string;
  creditlane: Installation;
  platform: OutsidePlatform;
  work: () => Promise<void>;
}

/** Runs work under load; expects 0 failed requests and 0 lost, repeated or inverted events. */
export async function expectNothingLost({ name, creditlane, platform, work }: LoadedWork) {
  const demo = await creditlane.demo();
  const { writes, failedReads } = await runWithFault({
    ...LOAD,
    name,
    system: { demo, databaseUrl: platform.databaseUrl },
    receiverAt: RECEIVER,
    fault: work,
  });
  // A write whose request failed was sent again with its idempotency key.
  const requests = writes.reduce((sum, write) => sum + write.requests, 0);
  const sent = writes.filter((write) => write.requests > 0).length;
  process.stdout.write(
    `${name}: ${sent} writes, ${requests - sent} failed requests of writes, ${failedReads.length} failed reads\n`,
  );
  const repeated = writes.filter((write) => write.requests > 1);
  for (const { refusal, requests } of repeated)
    process.stdout.write(`  ${requests} requests, the last refusal: ${refusal ?? 'none'}\n`);
  expect(requests - sent, 'failed requests of writes').toBe(0);
  expect(failedReads).toEqual([]);
}

/** How many requests or calls each pod has answered since its start. */
export async function callsPerPod(creditlane: Installation) {
  const pods = await creditlane.pods();
  return Promise.all(
    pods.map(async ({ metadata, status }) => {
      const service = metadata.labels['app.kubernetes.io/component'] ?? '';
      const text = await (await fetch(`http://${status.podIP}:9090/metrics`)).text();
      const metric = service === 'gateway' ? 'http_requests_total' : 'rpc_requests_total';
      return { service, pod: metadata.name, calls: new MetricSamples(text).sum(metric) };
    }),
  );
}
