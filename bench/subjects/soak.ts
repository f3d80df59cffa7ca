/** Memory under half of the highest load, for ten minutes: memory that grows with the number of deliveries is a leak. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from '../harness.ts';
import { measureClosedLoad, WRITE_AND_DELIVERY, warmUp } from '../load/throughput.ts';
import {
  type BenchPlatform,
  prepareWriters,
  startBenchPlatform,
} from '../platform/bench-platform.ts';
import { COLLECTABLE_FLAGS, type Memory, readMemory } from '../platform/memory.ts';

/** The least that several forced garbage collections have left in one period. */
type Period = Record<string, Memory>;

/** The size of V8's smallest object: a leak of one object per delivery exceeds it. */
const HEAP_TARGET = '≤ 16 B';
/** It contains memory that the allocators keep for later. */
const RESIDENT_TARGET = '≤ 5 %';

export default async function measure(bench: Bench): Promise<void> {
  const { plan } = bench;
  const nodeFlags = [...bench.nodeFlags, ...COLLECTABLE_FLAGS];
  const options = { runMode: 'one process', nodeFlags } as const;
  const platform = await startBenchPlatform(options, bench.closers);
  const { periods: count, periodMs, level } = plan.soak;
  await prepareWriters(platform, plan.applications);
  await warmUp(platform, plan);
  const best = await measureClosedLoad(platform, plan, WRITE_AND_DELIVERY, [level]);
  const perSecond = Math.round(best.perSecond / 2);
  bench.figure('deliveries', perSecond, '/s');
  const load = { kind: WRITE_AND_DELIVERY, perSecond, warmUpMs: 0, measureMs: count * periodMs };
  const [periods] = await Promise.all([
    readPeriods(bench, platform),
    platform.loadWorker.call('fixedRate', load),
  ]);
  for (const name of Object.keys(platform.processes)) {
    // The second half of the periods, when buffers and caches with a limit are full.
    const half = periods.slice(Math.floor(count / 2)).flatMap((period) => period[name] ?? []);
    const deliveries = (perSecond * periodMs) / 1_000;
    const heap = slope(half.map(({ heapBytes }) => heapBytes)) / deliveries;
    const resident = (half.at(-1)?.residentBytes ?? 0) / (half[0]?.residentBytes ?? 1) - 1;
    bench.figure(`${name}: growth of the heap for each delivery`, heap, 'B', HEAP_TARGET);
    bench.figure(`${name}: growth of the resident set`, resident * 100, '%', RESIDENT_TARGET);
  }
}

async function readPeriods(
  { plan, print }: Bench,
  { processes }: BenchPlatform,
): Promise<Period[]> {
  const { periods: count, periodMs, samplesPerPeriod } = plan.soak;
  const periods: Period[] = [];
  while (periods.length < count) {
    const samples: Period[] = [];
    while (samples.length < samplesPerPeriod) {
      await delay(periodMs / samplesPerPeriod);
      samples.push(await readMemory(processes));
    }
    const least = Object.keys(processes).map((name) => [name, leastOf(samples, name)] as const);
    periods.push(Object.fromEntries(least));
    print(`after ${(periods.length * periodMs) / 1_000} s: ${least.map(formatMemory).join(', ')}`);
  }
  return periods;
}

function leastOf(samples: Period[], name: string): Memory {
  const ofProcess = samples.flatMap((sample) => sample[name] ?? []);
  return {
    heapBytes: Math.min(...ofProcess.map(({ heapBytes }) => heapBytes)),
    residentBytes: Math.min(...ofProcess.map(({ residentBytes }) => residentBytes)),
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
  const [heap, resident] = [heapBytes, residentBytes].map((it) => (it / 2 ** 20).toFixed(1));
  return `${name} heap ${heap} MiB, resident ${resident} MiB`;
}
