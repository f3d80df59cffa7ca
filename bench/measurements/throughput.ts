/** The rates, latencies and CPU times of a platform, beside the limit of its PostgreSQL. */
import { insertDueDeliveries } from '../data/delivery-backlog.ts';
import { prepareSeparateDatabases, type SeparateDatabases } from '../data/separate-databases.ts';
import type { Latency } from '../load/latency.ts';
import type { FixedRateLoad } from '../load/load-patterns.ts';
import type { OperationKind } from '../load/load-worker.ts';
import type { Plan } from '../plan.ts';
import { type BenchPlatform, prepareWriters } from '../platform/bench-platform.ts';
import { type CpuCost, measureCpuCost } from '../platform/cpu-cost.ts';
import { type FixedRateResults, measureFixedRates } from './fixed-rates.ts';
import { bestLevel, fasterOf, type LoadLevels, measureLevels } from './load-levels.ts';
import { measureStages, type Stages } from './relay-and-dispatcher.ts';

export interface ThroughputResults {
  /** Decisions recorded by PostgreSQL alone; levels are connections. */
  limit: LoadLevels;
  /** Decisions recorded through the gateway by a tenant without webhooks; levels are callers. */
  writes: LoadLevels & { shareOfLimit: number; cost: CpuCost | undefined };
  writesAtHalfLoad: FixedRateLoad & { perSecond: number };
  /** Decisions recorded and their webhooks received; levels are operations under way. */
  deliveries: LoadLevels & { cost: CpuCost | undefined };
  /** Latencies from the request, and from the commit, to the first byte of the webhook. */
  deliveriesAtHalfLoad: FixedRateLoad & { sinceCommitMs: Latency; perSecond: number };
  fixedRates: FixedRateResults;
  /** Deliveries that are all due when the measurement starts. */
  backlog: { perSecond: number; cost: CpuCost | undefined };
  /** Only in the run mode `processes`: in one process no stage can run without the others. */
  stages?: Stages;
}

const WRITE: OperationKind = { writer: 'withoutWebhook', endsWith: 'answer' };
export const WRITE_AND_DELIVERY: OperationKind = { writer: 'withWebhook', endsWith: 'webhook' };

/** Prints a line for the person who waits. */
export type Print = (line: string) => void;

export async function measureThroughput(
  platform: BenchPlatform,
  plan: Plan,
  print: Print,
): Promise<ThroughputResults> {
  await prepareWriters(platform, plan.applications);
  const separate = await prepareSeparateDatabases(platform, plan.applications);
  print('Warming up');
  await warmUp(platform, plan);
  await measureDirectWrites(platform, separate, { ...plan, measureMs: 500 }, 8);

  print('PostgreSQL alone: the statement that records a decision');
  const measureAt = (connections: number) =>
    measureDirectWrites(platform, separate, plan, connections);
  const limitBefore = await measureLevels(plan.connections, measureAt);

  print('Decisions recorded through the gateway');
  const writes = await measureClosedLoad(platform, plan, WRITE, plan.writers);
  const halfOfWrites = halfLoad(plan, writes);
  const writesAtHalfLoad = await platform.loadWorker.call('fixedRate', {
    kind: WRITE,
    ...halfOfWrites,
  });
  await platform.settled();

  print('PostgreSQL alone, a second time');
  const limit = fasterOf(limitBefore, await measureLevels([bestLevel(limitBefore)], measureAt));

  print('Decisions recorded and their webhooks received');
  const deliveries = await measureClosedLoad(platform, plan, WRITE_AND_DELIVERY, plan.deliveries);
  const halfOfDeliveries = halfLoad(plan, deliveries);
  const deliveriesAtHalfLoad = await platform.loadWorker.call('fixedRateWithCommit', {
    url: platform.databaseUrls.decisions,
    ...halfOfDeliveries,
  });
  await platform.settled();

  print('Decisions recorded and their webhooks received, at fixed rates');
  const fixedRates = await measureFixedRates(platform, plan, deliveries.best.perSecond);

  print('Webhooks sent from a backlog');
  const backlog = await measureBacklog(platform, plan.backlog);

  const shareOfLimit = writes.best.perSecond / limit.best.perSecond;
  const results = {
    limit,
    writes: { ...writes, shareOfLimit },
    writesAtHalfLoad: { ...writesAtHalfLoad, perSecond: halfOfWrites.perSecond },
    deliveries,
    deliveriesAtHalfLoad: { ...deliveriesAtHalfLoad, perSecond: halfOfDeliveries.perSecond },
    fixedRates,
    backlog,
  };
  if (platform.processesWorker === undefined) return results;
  print('The relay alone, then the dispatcher alone');
  return { ...results, stages: await measureStages(platform, separate) };
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
): Promise<LoadLevels & { cost: CpuCost | undefined }> {
  let operations = 0;
  let measured: LoadLevels | undefined;
  const cost = await measureCpuCost(platform, async () => {
    measured = await measureLevels(levels, async (callers) => {
      const load = { kind, callers, warmUpMs, measureMs };
      const rate = await platform.loadWorker.call('closedLoad', load);
      operations += rate.operations;
      // The remaining work of this level must not slow the next one down.
      await platform.settled();
      return rate;
    });
    return operations;
  });
  if (measured === undefined) throw new Error('no level was measured');
  return { ...measured, cost };
}

function halfLoad({ warmUpMs, fixedRateMs }: Plan, { best }: LoadLevels) {
  const perSecond = Math.max(10, Math.round(best.perSecond / 2));
  return { perSecond, warmUpMs, measureMs: fixedRateMs };
}

async function measureBacklog(
  platform: BenchPlatform,
  count: number,
): Promise<ThroughputResults['backlog']> {
  let perSecond = 0;
  const cost = await measureCpuCost(platform, async () => {
    const received = platform.loadWorker.call('receiveRate', { count, skip: 0 });
    await insertDueDeliveries(platform.databaseUrls['webhook-dispatcher'], count);
    perSecond = await received;
    await platform.settled();
    return count;
  });
  return { perSecond, cost };
}
