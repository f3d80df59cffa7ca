/** The CPU time that the platform spends on what is asked of it. */

import type { BenchPlatform } from './bench-platform.ts';
import { type CpuTimes, cpuTimes } from './cpu-time.ts';

/** Of one exchange: services, PostgreSQL and Kafka together, and each by itself. */
export interface Cost {
  cpuMs: number;
  byProcess: CpuTimes;
}

/** What work costs that makes so many exchanges; undefined where the system does not tell. */
export async function costOf(
  world: BenchPlatform,
  work: () => Promise<number>,
): Promise<Cost | undefined> {
  const before = await used(world);
  const exchanges = await work();
  const after = await used(world);
  if (before === undefined || after === undefined) return undefined;
  const byProcess = Object.fromEntries(
    Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? 0)) / exchanges]),
  );
  return { cpuMs: sum(byProcess), byProcess };
}

async function used({
  platform,
  processes,
  postgresPid,
}: BenchPlatform): Promise<CpuTimes | undefined> {
  const times = await cpuTimes({
    ...Object.fromEntries(Object.entries(processes).map(([name, { pid }]) => [name, pid])),
    PostgreSQL: postgresPid(),
    platform: platform.pid,
  });
  if (times === undefined || 'platform' in processes) return times;
  // Below the part that runs the platform there are the services and the broker, and nothing else.
  const { platform: all = 0, PostgreSQL = 0, ...services } = times;
  return { ...services, PostgreSQL, Kafka: all - sum(services) };
}

function sum(times: CpuTimes): number {
  return Object.values(times).reduce((total, ms) => total + ms, 0);
}
