/** The latency and the CPU time of webhooks at fixed rates below the maximum, and the CPU time of an idle platform. */
import { setTimeout as delay } from 'node:timers/promises';
import { copySubmission } from '../data/submissions.ts';
import { vacuumAll } from '../data/vacuum.ts';
import type { Bench } from '../harness.ts';
import type { RateStage } from '../plan.ts';
import { type BenchPlatform, setWriter } from '../platform/bench-platform.ts';
import { measureCpuCost } from '../platform/cpu-cost.ts';
import type { RunMode } from '../platform/run-mode.ts';
import type { FixedRateLoad } from './load-patterns.ts';

interface StageTargets {
  p50: number;
  p99: number;
  cpu?: number;
}

/** By the rate and the number of applications; in milliseconds. */
const TARGETS: Record<RunMode, Record<string, StageTargets>> = {
  'one process': {
    '50/s to 256': { p50: 3, p99: 7, cpu: 3 },
    '700/s to 256': { p50: 2.5, p99: 11, cpu: 1.2 },
    '1200/s to 256': { p50: 8, p99: 40, cpu: 0.8 },
    '1200/s to 64': { p50: 12, p99: 60 },
  },
  processes: { '500/s to 256': { p50: 8, p99: 30 } },
};
const IDLE_TARGETS: Record<RunMode, string> = { 'one process': '≤ 0.5 %', processes: '' };

const WRITER = 'fixed rate';
const atMost = (ms: number | undefined) => (ms === undefined ? '' : `≤ ${ms} ms`);

/**
 * Decisions on the applications in turn, so that the webhooks of one application wait for each other, timed from the request to the
 * first byte of the webhook at a receiver that answers at once. A rate above the platform's maximum, or with which it did not keep
 * up, has no figures.
 *
 * @param maxPerSecond the deliveries per second that the platform has reached
 */
export async function measureFixedRates(
  bench: Bench,
  platform: BenchPlatform,
  maxPerSecond: number,
): Promise<void> {
  const { rates, idleAfterMs, idleMs } = bench.plan;
  for (const stage of rates) {
    if (stage.perSecond < maxPerSecond) await measureStage(bench, platform, stage);
  }
  await vacuumAll(platform.databaseUrls);
  await delay(idleAfterMs);
  const idle = await measureCpuCost(platform, async () => {
    await delay(idleMs);
    return idleMs;
  });
  const percent = idle && idle.cpuMs * 100;
  bench.figure('without any request: of a core', percent, '%', IDLE_TARGETS[platform.runMode]);
}

async function measureStage(
  bench: Bench,
  platform: BenchPlatform,
  { perSecond, applications }: RateStage,
): Promise<void> {
  const { databaseUrls, tenants, loadWorker, runMode } = platform;
  const from = { fromUrl: databaseUrls.decisions };
  const applicationIds = await copySubmission(from, tenants.withWebhook, applications);
  await setWriter(platform, 'withWebhook', applicationIds, WRITER);
  await vacuumAll(databaseUrls);
  const kind = { writer: WRITER, endsWith: 'webhook' } as const;
  const { warmUpMs, fixedRateMs: measureMs } = bench.plan;
  let load: FixedRateLoad | null | undefined;
  const cost = await measureCpuCost(platform, async () => {
    load = await loadWorker.call('fixedRateIfKeptUp', { kind, perSecond, warmUpMs, measureMs });
    await platform.settled();
    return (perSecond * (warmUpMs + measureMs)) / 1_000;
  });
  const name = `${perSecond}/s to ${applications}`;
  if (!load) return bench.print(`${name} applications: not kept up with`);
  const targets = TARGETS[runMode][name];
  bench.figure(`${name} applications: p50`, load.latencyMs.p50, 'ms', atMost(targets?.p50));
  bench.figure(`${name} applications: p99`, load.latencyMs.p99, 'ms', atMost(targets?.p99));
  bench.figure(`${name} applications: CPU of each`, cost?.cpuMs, 'ms', atMost(targets?.cpu));
}
