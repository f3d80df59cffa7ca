/** The memory of the platform's processes, as they tell it themselves, after their garbage is gone. */
import { join } from 'node:path';
import type { PlatformProcess } from './run-mode.ts';

/** What a process must be started with, to be asked. */
export const COLLECTABLE = [
  '--expose-gc',
  '--import',
  join(import.meta.dirname, 'collect-on-signal.mjs'),
];

export interface Memory {
  /** Of JavaScript's heap, what is in use. */
  heapBytes: number;
  residentBytes: number;
}

const HEAP = /^nodejs_heap_size_used_bytes (\S+)/m;
const RESIDENT = /^process_resident_memory_bytes (\S+)/m;

/** The memory of each process. Collecting holds it up for some dozens of milliseconds. */
export async function readMemory(
  processes: Record<string, PlatformProcess>,
): Promise<Record<string, Memory>> {
  const read = Object.entries(processes).map(async ([name, { pid, opsUrl }]) => {
    process.kill(pid, 'SIGUSR2');
    const text = await (await fetch(`${opsUrl}/metrics`)).text();
    const memory = { heapBytes: figure(text, HEAP), residentBytes: figure(text, RESIDENT) };
    return [name, memory] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

function figure(text: string, pattern: RegExp): number {
  const value = Number(pattern.exec(text)?.[1]);
  if (Number.isNaN(value)) throw new Error('the metrics do not tell the memory');
  return value;
}
