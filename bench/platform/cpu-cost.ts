/** The CPU time that the platform spends on one operation, read from Linux's /proc. */
import { readdir } from 'node:fs/promises';
import { type ProcessStat, readProcessStat } from '@creditlane/supervision/process-stat';
import type { BenchPlatform } from './bench-platform.ts';

/** The kernel's USER_HZ, which is the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Milliseconds of CPU time by the name of a process. */
type CpuTimes = Record<string, number>;

/** The CPU time of one operation: of services, PostgreSQL and Kafka together, and of each. */
export interface CpuCost {
  cpuMs: number;
  byProcess: CpuTimes;
}

/**
 * Measures the CPU time while `work` runs, divided by the number of operations that `work` returns.
 * Undefined on a system without /proc.
 */
export async function measureCpuCost(
  platform: BenchPlatform,
  work: () => Promise<number>,
): Promise<CpuCost | undefined> {
  const before = await readPlatformTimes(platform);
  const operations = await work();
  const after = await readPlatformTimes(platform);
  if (before === undefined || after === undefined) return undefined;
  const byProcess = Object.fromEntries(
    Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? 0)) / operations]),
  );
  return { cpuMs: sum(byProcess), byProcess };
}

async function readPlatformTimes(platform: BenchPlatform): Promise<CpuTimes | undefined> {
  const { worker, processes, postgresPid } = platform;
  const times = await readCpuTimes({
    ...Object.fromEntries(Object.entries(processes).map(([name, { pid }]) => [name, pid])),
    PostgreSQL: postgresPid(),
    platform: worker.pid,
  });
  if (times === undefined || 'platform' in processes) return times;
  // The descendants of the worker are the services and the Kafka broker, and nothing else.
  const { platform: all = 0, PostgreSQL = 0, ...services } = times;
  return { ...services, PostgreSQL, Kafka: all - sum(services) };
}

function sum(times: CpuTimes): number {
  return Object.values(times).reduce((total, ms) => total + ms, 0);
}

/**
 * The CPU time so far of each process and all its descendants, ended ones included. A process below
 * another one of `pids` counts for both. Undefined on a system without /proc.
 */
export async function readCpuTimes(pids: Record<string, number>): Promise<CpuTimes | undefined> {
  const stats = await readProcessStats();
  if (stats.size === 0) return undefined;
  const timeOf = (root: number) => {
    let ticks = 0;
    for (const [pid, stat] of stats) {
      if (isBelow(pid, root, stats)) ticks += stat.ticks + stat.childTicks;
    }
    return (ticks * 1000) / TICKS_PER_SECOND;
  };
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, timeOf(pid)]));
}

/** Whether a process is `root` or one of its descendants. */
function isBelow(pid: number, root: number, stats: ReadonlyMap<number, ProcessStat>): boolean {
  for (let at: number | undefined = pid; at; at = stats.get(at)?.parentPid) {
    if (at === root) return true;
  }
  return false;
}

async function readProcessStats(): Promise<Map<number, ProcessStat>> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = new Map<number, ProcessStat>();
  for (const pid of pids) {
    // A process that has ended meanwhile is in the accounting of its parent.
    const stat = await readProcessStat(pid);
    if (stat !== undefined) stats.set(pid, stat);
  }
  return stats;
}
