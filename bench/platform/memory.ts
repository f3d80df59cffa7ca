/** The memory of the platform's processes after a garbage collection, from their own metrics. */
import { join } from 'node:path';
import type { PlatformProcess } from './run-mode.ts';

/** The flags that a process must be started with for `readMemory`. */
export const COLLECTABLE_FLAGS = [
  '--expose-gc',
  '--import',
  join(import.meta.dirname, 'collect-on-signal.mjs'),
];

export interface Memory {
  /** The used part of the JavaScript heap. */
  heapBytes: number;
  residentBytes: number;
}

const HEAP = /^nodejs_heap_size_used_bytes (\S+)/m;
const RESIDENT = /^process_resident_memory_bytes (\S+)/m;

/** Collects each process's garbage, which stops it for some dozens of milliseconds, and reads its memory. */
export async function readMemory(
  processes: Record<string, PlatformProcess>,
): Promise<Record<string, Memory>> {
  const reads = Object.entries(processes).map(async ([name, { pid, opsUrl }]) => {
    process.kill(pid, 'SIGUSR2');
    const text = await (await fetch(`${opsUrl}/metrics`)).text();
    const memory = {
      heapBytes: parseSample(text, HEAP),
      residentBytes: parseSample(text, RESIDENT),
    };
    return [name, memory] as const;
  });
  return Object.fromEntries(await Promise.all(reads));
}

function parseSample(text: string, pattern: RegExp): number {
  const value = Number(pattern.exec(text)?.[1]);
  if (Number.isNaN(value)) throw new Error(`no metric matches ${pattern}`);
  return value;
}
