/** The rates, latencies and CPU times of a platform, beside the limit of its PostgreSQL. */
import { insertDueDeliveries } from '../data/delivery-backlog.ts';
import { prepareSeparateDatabases, type SeparateDatabases } from '../data/separate-databases.ts';
import type { Bench, Measure } from '../harness.ts';
import type { Plan } from '../plan.ts';
import {
  type BenchPlatform,
  prepareWriters,
  startBenchPlatform,
} from '../platform/bench-platform.ts';
import { type CpuCost, measureCpuCost } from '../platform/cpu-cost.ts';
import type { RunMode } from '../platform/run-mode.ts';
import { measureFixedRates } from './fixed-rates.ts';
import type { Rate } from './latency.ts';
import type { OperationKind } from './load-worker.ts';

const WRITE: OperationKind = { writer: 'withoutWebhook', endsWith: 'answer' };
export const WRITE_AND_DELIVERY: OperationKind = { writer: 'withWebhook', endsWith: 'webhook' };

const TARGETS = {
  'one process': {
    share: '≥ 75 %',
    deliveries: '≥ 4,000/s',
    cpu: '≤ 0.4 ms',
    backlog: '≥ 11,000/s',
  },
  processes: { share: '≥ 35 %', deliveries: '≥ 3,000/s', cpu: '≤ 0.7 ms', backlog: '≥ 9,000/s' },
};

/**
 * A fixed number of callers, each of which starts its next operation when its last one has ended; the best of several numbers of
 * callers. PostgreSQL alone runs the service's own prepared statement, before and after the gateway; the faster of both counts.
 */
export function measureThroughput(runMode: RunMode): Measure {
  return async (bench) => {
    const { plan } = bench;
    const targets = TARGETS[runMode];
    const platform = await startBenchPlatform({ ...bench, runMode }, bench.closers);
    await prepareWriters(platform, plan.applications);
    const separate = await prepareSeparateDatabases(platform, plan.applications);
    await warmUp(platform, plan);
    await measureDirectWrites(platform, separate, { ...plan, measureMs: 500 }, 8);

    const measureAlone = (connections: number) =>
      measureDirectWrites(platform, separate, plan, connections);
    const before = await bestOf(plan.connections, measureAlone);
    const writes = await measureClosedLoad(platform, plan, WRITE, plan.writers);
    const after = await bestOf([before.level], measureAlone);
    const limit = Math.max(before.perSecond, after.perSecond);
    bench.figure('PostgreSQL alone: decisions recorded', limit, '/s');
    bench.figure('gateway: decisions recorded', writes.perSecond, '/s');
    bench.figure(
      '  as a share of PostgreSQL alone',
      (writes.perSecond / limit) * 100,
      '%',
      targets.share,
    );
    bench.figure('  CPU of each', writes.cost?.cpuMs, 'ms');

    const deliveries = await measureClosedLoad(platform, plan, WRITE_AND_DELIVERY, plan.deliveries);
    bench.figure('request → delivered webhook', deliveries.perSecond, '/s', targets.deliveries);
    bench.figure('  CPU of each', deliveries.cost?.cpuMs, 'ms', targets.cpu);
    for (const [name, cpuMs] of Object.entries(deliveries.cost?.byProcess ?? {})) {
      bench.figure(`    of ${name}`, cpuMs, 'ms');
    }
    await measureFixedRates(bench, platform, deliveries.perSecond);
    await measureBacklog(bench, platform, targets.backlog);
  };
}

/** The first operations of a process cost several times as much, because V8 compiles meanwhile. */
export async function warmUp(platform: BenchPlatform, plan: Plan): Promise<void> {
  await platform.loadWorker.call('warmUp', { kind: WRITE_AND_DELIVERY, ...plan.warmUp });
}

function measureDirectWrites(
  { loadWorker }: BenchPlatform,
  { databaseUrls, creditorId, applicationIds }: SeparateDatabases,
  { warmUpMs, measureMs }: Plan,
  connections: number,
) {
  const url = databaseUrls.decisions;
  const load = { connections, warmUpMs, measureMs };
  return loadWorker.call('directWrites', { url, creditorId, applicationIds, ...load });
}

/** Measures closed loads at several levels, and the CPU cost of one operation over all of them. */
export async function measureClosedLoad(
  platform: BenchPlatform,
  { warmUpMs, measureMs }: Plan,
  kind: OperationKind,
  levels: readonly number[],
): Promise<{ perSecond: number; cost: CpuCost | undefined }> {
  let operations = 0;
  let perSecond = 0;
  const cost = await measureCpuCost(platform, async () => {
    const best = await bestOf(levels, async (callers) => {
      const load = { kind, callers, warmUpMs, measureMs };
      const rate = await platform.loadWorker.call('closedLoad', load);
      operations += rate.operations;
      // The remaining work of this level must not slow the next one down.
      await platform.settled();
      return rate;
    });
    perSecond = best.perSecond;
    return operations;
  });
  return { perSecond, cost };
}

/** The fastest of the levels, such as numbers of callers, that are measured one after the other. */
async function bestOf(levels: readonly number[], load: (level: number) => Promise<Rate>) {
  let best = { level: 0, perSecond: 0 };
  for (const level of levels) {
    const { perSecond } = await load(level);
    if (perSecond > best.perSecond) best = { level, perSecond };
  }
  return best;
}

/** Deliveries that are all due when the measurement starts. */
async function measureBacklog(
  bench: Bench,
  platform: BenchPlatform,
  target: string,
): Promise<void> {
  const count = bench.plan.backlog;
  let perSecond = 0;
  const cost = await measureCpuCost(platform, async () => {
    const received = platform.loadWorker.call('receiveRate', count);
    await insertDueDeliveries(platform.databaseUrls['webhook-dispatcher'], count);
    perSecond = await received;
    await platform.settled();
    return count;
  });
  bench.figure('webhooks delivered from a backlog', perSecond, '/s', target);
  bench.figure('  CPU of each', cost?.cpuMs, 'ms');
}
