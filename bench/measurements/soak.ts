/** Memory under a lasting load: what grows with what has been delivered is a leak. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan } from '../plan.ts';
import { type BenchPlatform, introduceWriters } from '../platform/bench-platform.ts';
import { type Memory, readMemory } from '../platform/memory.ts';
import { closed, type Say, TOLD, warmUp } from './throughput.ts';

export interface Soak {
  perSecond: number;
  periodMs: number;
  /** By period, and by process: the least that was seen in it. */
  periods: Record<string, Memory>[];
  growth: Record<string, Growth>;
}

/** In the second half, when all that fills up once is full. */
export interface Growth {
  /** Of the heap, along the straight line through the periods. */
  heapBytesPerDelivery: number;
  /** Of the resident set, from its first period to its last. */
  residentShare: number;
}

/** Half of what it can do, with webhooks. */
export async function soak(world: BenchPlatform, plan: Plan, say: Say): Promise<Soak> {
  const { periods: count, periodMs } = plan.soak;
  await introduceWriters(world, plan.applications);
  say('Warming up');
  await warmUp(world, plan);
  const { best } = await closed(world, plan, TOLD, [plan.usual.deliveries]);
  const perSecond = Math.round(best.perSecond / 2);
  say(`${perSecond} deliveries a second for ${(count * periodMs) / 1_000} s`);
  const load = { of: TOLD, perSecond, warmUpMs: 0, measureMs: count * periodMs };
  const [periods] = await Promise.all([watch(world, plan, say), world.outside.call('open', load)]);
  const names = Object.keys(world.processes);
  const deliveries = (perSecond * periodMs) / 1_000;
  const growth = names.map((name) => [name, growthOf(periods, name, deliveries)] as const);
  return { perSecond, periodMs, periods, growth: Object.fromEntries(growth) };
}

async function watch({ processes }: BenchPlatform, plan: Plan, say: Say): Promise<Soak['periods']> {
  const { periods: count, periodMs, samplesEach } = plan.soak;
  const periods: Soak['periods'] = [];
  for (let period = 1; period <= count; period += 1) {
    const samples: Record<string, Memory>[] = [];
    while (samples.length < samplesEach) {
      await sleep(periodMs / samplesEach);
      samples.push(await readMemory(processes));
    }
    const least = Object.keys(processes).map((name) => [name, leastOf(samples, name)] as const);
    periods.push(Object.fromEntries(least));
    say(`after ${(period * periodMs) / 1_000} s: ${least.map(wordsOf).join(', ')}`);
  }
  return periods;
}

function leastOf(samples: Record<string, Memory>[], name: string): Memory {
  const its = samples.flatMap((sample) => sample[name] ?? []);
  return {
    heapBytes: Math.min(...its.map(({ heapBytes }) => heapBytes)),
    residentBytes: Math.min(...its.map(({ residentBytes }) => residentBytes)),
  };
}

function growthOf(periods: Soak['periods'], name: string, deliveriesEach: number): Growth {
  const half = periods
    .slice(Math.floor(periods.length / 2))
    .flatMap((memory) => memory[name] ?? []);
  const heap = half.map(({ heapBytes }) => heapBytes);
  const resident = half.map(({ residentBytes }) => residentBytes);
  return {
    heapBytesPerDelivery: slope(heap) / deliveriesEach,
    residentShare: (resident.at(-1) ?? 0) / (resident[0] ?? 1) - 1,
  };
}

/** By how much the values rise from one to the next, by least squares. */
function slope(values: number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((total, value) => total + value, 0) / values.length;
  let above = 0;
  let below = 0;
  for (const [at, value] of values.entries()) {
    above += (at - middle) * (value - mean);
    below += (at - middle) ** 2;
  }
  return above / below;
}

function wordsOf([name, { heapBytes, residentBytes }]: readonly [string, Memory]): string {
  return `${name} ${mebibytes(heapBytes)} of heap in ${mebibytes(residentBytes)}`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
