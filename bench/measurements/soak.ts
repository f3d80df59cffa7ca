/** Memory under a lasting load: memory that grows with the number of deliveries is a leak. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Plan } from '../plan.ts';
import { type BenchPlatform, prepareWriters } from '../platform/bench-platform.ts';
import { type Memory, readMemory } from '../platform/memory.ts';
import { formatMebibytes } from '../report/columns.ts';
import { measureClosedLoad, type Print, WRITE_AND_DELIVERY, warmUp } from './throughput.ts';

export interface SoakResults {
  perSecond: number;
  periodMs: number;
  /** The least memory of each process in each period. */
  periods: Record<string, Memory>[];
  growth: Record<string, Growth>;
}

/** Growth in the second half of the periods, when buffers and caches with a limit are full. */
export interface Growth {
  /** The slope of the heap's size over the periods. */
  heapBytesPerDelivery: number;
  /** The resident set in the last period compared with the first one of the half: 0.05 is 5 % more. */
  residentShare: number;
}

/** Records decisions with webhooks at half of the highest rate, and reads the memory meanwhile. */
export async function measureSoak(
  platform: BenchPlatform,
  plan: Plan,
  print: Print,
): Promise<SoakResults> {
  const { periods: count, periodMs } = plan.soak;
  await prepareWriters(platform, plan.applications);
  print('Warming up');
  await warmUp(platform, plan);
  const levels = [plan.single.deliveries];
  const { best } = await measureClosedLoad(platform, plan, WRITE_AND_DELIVERY, levels);
  const perSecond = Math.round(best.perSecond / 2);
  print(`${perSecond} deliveries per second for ${(count * periodMs) / 1_000} s`);
  const load = { kind: WRITE_AND_DELIVERY, perSecond, warmUpMs: 0, measureMs: count * periodMs };
  const [periods] = await Promise.all([
    readPeriods(platform, plan, print),
    platform.loadWorker.call('fixedRate', load),
  ]);
  const names = Object.keys(platform.processes);
  const deliveries = (perSecond * periodMs) / 1_000;
  const growth = names.map((name) => [name, growthOf(periods, name, deliveries)] as const);
  return { perSecond, periodMs, periods, growth: Object.fromEntries(growth) };
}

async function readPeriods(
  { processes }: BenchPlatform,
  plan: Plan,
  print: Print,
): Promise<SoakResults['periods']> {
  const { periods: count, periodMs, samplesPerPeriod } = plan.soak;
  const periods: SoakResults['periods'] = [];
  for (let period = 1; period <= count; period += 1) {
    const samples: Record<string, Memory>[] = [];
    while (samples.length < samplesPerPeriod) {
      await delay(periodMs / samplesPerPeriod);
      samples.push(await readMemory(processes));
    }
    const least = Object.keys(processes).map((name) => [name, leastOf(samples, name)] as const);
    periods.push(Object.fromEntries(least));
    print(`after ${(period * periodMs) / 1_000} s: ${least.map(formatMemory).join(', ')}`);
  }
  return periods;
}

function leastOf(samples: Record<string, Memory>[], name: string): Memory {
  const ofProcess = samples.flatMap((sample) => sample[name] ?? []);
  return {
    heapBytes: Math.min(...ofProcess.map(({ heapBytes }) => heapBytes)),
    residentBytes: Math.min(...ofProcess.map(({ residentBytes }) => residentBytes)),
  };
}

function growthOf(
  periods: SoakResults['periods'],
  name: string,
  deliveriesPerPeriod: number,
): Growth {
  const secondHalf = periods
    .slice(Math.floor(periods.length / 2))
    .flatMap((memory) => memory[name] ?? []);
  const heap = secondHalf.map(({ heapBytes }) => heapBytes);
  const resident = secondHalf.map(({ residentBytes }) => residentBytes);
  return {
    heapBytesPerDelivery: slope(heap) / deliveriesPerPeriod,
    residentShare: (resident.at(-1) ?? 0) / (resident[0] ?? 1) - 1,
  };
}

/** The slope of the least-squares line through the values, per step from one value to the next. */
function slope(values: number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((total, value) => total + value, 0) / values.length;
  let covariance = 0;
  let variance = 0;
  for (const [index, value] of values.entries()) {
    covariance += (index - middle) * (value - mean);
    variance += (index - middle) ** 2;
  }
  return covariance / variance;
}

function formatMemory([name, { heapBytes, residentBytes }]: readonly [string, Memory]): string {
  return `${name} heap ${formatMebibytes(heapBytes)}, resident ${formatMebibytes(residentBytes)}`;
}
