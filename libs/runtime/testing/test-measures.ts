/** For the measured tests: medians of rounds that are measured in turns, each figure printed with its limit. */
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';

/** The CPU time of this process while `work` runs, in milliseconds. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The CPU time of this thread while `work` runs, in milliseconds: without what V8 does meanwhile on threads of its own. */
export async function threadCpuMsOf(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** The memory that this process uses for live objects and buffers. */
export async function usedBytesAfterGarbageCollection(): Promise<number> {
  // Connections that were closed are released in later turns of the event loop.
  await delay(50);
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The middle one of an odd number of values. */
export function medianOf(values: readonly number[]): number {
  const median = values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
  if (median === undefined) throw new Error('nothing was measured');
  return median;
}

/**
 * Measures each in turns, so that other work of the machine disturbs all alike, and resolves with the median of each. The first
 * round, which runs code that is not compiled yet, is not counted.
 */
export async function mediansInTurns<K extends string>(
  measures: Readonly<Record<K, () => number | Promise<number>>>,
  rounds: number,
): Promise<Record<K, number>> {
  const names = Object.keys(measures) as K[];
  const values = names.map((): number[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, name] of names.entries()) {
      const value = await measures[name]();
      if (round > 0) values[index]?.push(value);
    }
  }
  return Object.fromEntries(
    names.map((name, index) => [name, medianOf(values[index] ?? [])]),
  ) as Record<K, number>;
}

/** Prints a figure with its limit on a line, and lets the test fail where the figure is above. The test goes on, to print others. */
export function expectAtMost(limit: number, what: string, value: number): void {
  const figure = value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
  process.stdout.write(`${what}: ${figure}, at most ${limit}\n`);
  expect.soft(value, what).toBeLessThanOrEqual(limit);
}
