/** The latency and the CPU time of webhooks at fixed rates below the maximum, and the CPU time of an idle platform. */
import { setTimeout as delay } from 'node:timers/promises';
import { copySubmission } from '../data/submissions.ts';
import { vacuumAll } from '../data/vacuum.ts';
import type { FixedRateLoad } from '../load/load-patterns.ts';
import type { Plan, RateStage } from '../plan.ts';
import { type BenchPlatform, setWriter } from '../platform/bench-platform.ts';
import { type CpuCost, measureCpuCost } from '../platform/cpu-cost.ts';

/** `load` is undefined for a rate above what the platform delivers at most, or with which it did not keep up. */
export interface MeasuredStage extends RateStage {
  load: (FixedRateLoad & { cost: CpuCost | undefined }) | undefined;
}

export interface FixedRateResults {
  stages: MeasuredStage[];
  /** The CPU time of all processes per millisecond without any request; undefined without /proc. */
  idleShareOfCore: number | undefined;
}

const WRITER = 'fixed rate';

/** @param maxPerSecond the deliveries per second that the platform has reached */
export async function measureFixedRates(
  platform: BenchPlatform,
  { rates, idleAfterMs, idleMs, warmUpMs, fixedRateMs: measureMs }: Plan,
  maxPerSecond: number,
): Promise<FixedRateResults> {
  const stages: MeasuredStage[] = [];
  for (const stage of rates) {
    const { perSecond } = stage;
    const isReachable = perSecond < maxPerSecond;
    const load = isReachable
      ? await measureStage(platform, stage, { perSecond, warmUpMs, measureMs })
      : undefined;
    stages.push({ ...stage, load });
  }
  await vacuumAll(platform.databaseUrls);
  await delay(idleAfterMs);
  const idle = await measureCpuCost(platform, async () => {
    await delay(idleMs);
    return idleMs;
  });
  return { stages, idleShareOfCore: idle?.cpuMs };
}

async function measureStage(
  platform: BenchPlatform,
  { applications }: RateStage,
  load: { perSecond: number; warmUpMs: number; measureMs: number },
): Promise<MeasuredStage['load']> {
  const { databaseUrls, tenants, loadWorker } = platform;
  const from = { fromUrl: databaseUrls.decisions };
  const applicationIds = await copySubmission(from, tenants.withWebhook, applications);
  await setWriter(platform, 'withWebhook', applicationIds, WRITER);
  await vacuumAll(platform.databaseUrls);
  const kind = { writer: WRITER, endsWith: 'webhook' } as const;
  let measured: FixedRateLoad | null | undefined;
  const cost = await measureCpuCost(platform, async () => {
    measured = await loadWorker.call('fixedRateIfKeptUp', { kind, ...load });
    await platform.settled();
    return (load.perSecond * (load.warmUpMs + load.measureMs)) / 1_000;
  });
  if (measured === undefined) throw new Error('the load was not measured');
  return measured === null ? undefined : { ...measured, cost };
}
