/** The accounting of processes that Linux keeps in /proc/<pid>/stat: proc(5). */
import { readFile } from 'node:fs/promises';

export interface ProcessStat {
  /** Ended and not yet reaped by its parent. */
  isZombie: boolean;
  parentPid: number;
  /** In ticks since boot. */
  startTime: string;
  /** CPU time in ticks. */
  ticks: number;
  /** CPU time, in ticks, of children that have ended and were waited for. */
  childTicks: number;
}

/** Undefined when there is no such process. */
export async function readProcessStat(pid: number): Promise<ProcessStat | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // "pid (name) state ppid …", where the name may hold anything, parentheses too. The first field
    // after it is field 3 of proc(5).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', parentPid] = fields;
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11).map(Number);
    // The state is that of the first thread. While others are ending, the process still holds its ports and locks.
    const threads = Number(fields[17]);
    return {
      isZombie: state === 'Z' && threads <= 1,
      parentPid: Number(parentPid),
      startTime: fields[19] ?? '',
      ticks: user + system,
      childTicks: childUser + childSystem,
    };
  } catch (error) {
    if (hasEnded(error)) return undefined;
    throw error;
  }
}

/** Whether a file of /proc/<pid> could not be read because there is no such process. */
export function hasEnded(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  // ESRCH: the process ended between the opening of the file and the reading.
  return code === 'ENOENT' || code === 'ESRCH';
}
